#include <gtest/gtest.h>

#include "driver/gemini/gemini_stream.h"
#include "driver/test_golden.h"
#include "driver/test_recording.h"
#include "driver/test_review.h"
#include "json/scan.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// How many `log` events a recording may give: standard error, which this program fills on every run.
constexpr std::size_t kErrorLogs = 1;

Launch gemini_launch() {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  return launch;
}

std::vector<Recording> gemini_recordings() {
  return read_recordings("gemini");
}

Translation translate_gemini(const Recording& recording, std::string_view bytes) {
  GeminiStream driver;
  EXPECT_TRUE(driver.launch(gemini_launch()).has_value());
  return translate_with(driver, recording, bytes);
}

Translation translate_gemini(const Recording& recording) {
  return translate_gemini(recording, recording.out);
}

std::vector<DriverEvent> events_of(std::string_view bytes) {
  GeminiStream driver;
  EXPECT_TRUE(driver.launch(gemini_launch()).has_value());
  Actions out;
  for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
  return out.take_events();
}

TEST(GeminiGolden, EveryRecordingTranslatesAsExpected) {
  auto recordings = gemini_recordings();
  EXPECT_EQ(recordings.size(), 6U);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    expect_golden("gemini", recording.name, golden_lines(translate_gemini(recording)));
  }
}

TEST(GeminiGolden, EverythingThatItPrintsIsKnown) {
  for (const auto& recording : gemini_recordings()) {
    auto translation = translate_gemini(recording);
    EXPECT_EQ(std::ranges::count(translation.out.events(), EventType::log, &DriverEvent::type), kErrorLogs)
        << recording.name;
  }
}

TEST(GeminiGolden, EveryEventPassesTheDoor) {
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  intake.now_ms = kRecordingStart;
  std::map<std::string, int> ids;
  for (const auto& recording : gemini_recordings()) {
    SCOPED_TRACE(recording.name);
    for (const auto& event : translate_gemini(recording).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 7);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 500);
      std::string id = text_member(event.json, "eventID");
      if (!id.empty()) {
        EXPECT_EQ(++ids[id], 1) << id;
      }
    }
  }
}

TEST(GeminiReview, AsAPersonReadTheRecordings) {
  auto reviewed = read_reviews("gemini");
  auto recordings = gemini_recordings();
  expect_each_reviewed(reviewed, recordings);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    Translation translation = translate_gemini(recording);
    expect_calls_and_end(translation, reviewed[recording.name]);
    expect_summaries_for_people(translation);
    expect_one_fatal_error(translation, reviewed[recording.name]);
    expect_quotes_seen(translation, reviewed[recording.name].seen);
  }
}

// The pieces of a text are live text under one name, and together they are the finished text.
TEST(GeminiReview, PiecesAreLiveTextAndOneFinishedText) {
  Translation translation = translate_gemini(read_recording("gemini", "gemini-01-tools.jsonl"));
  std::string live, finished;
  std::set<std::string> blocks;
  for (const auto& delta : translation.out.deltas()) {
    live += delta.text;
    blocks.insert(delta.block);
  }
  for (const auto& event : translation.out.events()) {
    if (event.type == EventType::thinking) finished += text_member(data_of(event), "text");
  }
  EXPECT_EQ(live, "Let me look around the project first.Fixed ✓");
  EXPECT_EQ(finished, live);
  EXPECT_EQ(blocks.size(), 2U);
}

// A run that is cut anywhere gives what its complete lines give, and little more for the piece.
TEST(GeminiProperty, TruncationLosesNoCompleteLine) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : gemini_recordings()) {
    if (recording.extension == ".json") continue;
    for (int round = 0; round < 8; ++round) {
      std::size_t size = 1 + random() % recording.out.size();
      std::size_t complete = recording.out.rfind('\n', size - 1);
      complete = complete == std::string::npos ? 0 : complete + 1;
      auto whole = events_of(std::string_view(recording.out).substr(0, complete));
      auto cut = events_of(std::string_view(recording.out).substr(0, size));
      ASSERT_GE(cut.size(), whole.size()) << recording.name << " at " << size;
      EXPECT_LE(cut.size(), whole.size() + 2) << recording.name << " at " << size;
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(cut[i].json, whole[i].json);
    }
  }
}

TEST(GeminiProperty, UnknownFieldsChangeNothingAndUnknownRecordsAreKept) {
  for (const auto& recording : gemini_recordings()) {
    if (recording.extension == ".json") continue;
    std::string bytes;
    for (const auto& line : lines_of(recording.out)) bytes += R"({"new":{"a":[1,{}]},)" + line.substr(1) + "\n";
    auto plain = events_of(recording.out), more = events_of(bytes);
    ASSERT_EQ(plain.size(), more.size());
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(plain[i].json, more[i].json);
  }
  std::string unknown = R"({"type":"weather","sky":"blue"})";
  auto events = events_of(unknown + "\n");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].type, EventType::log);
  EXPECT_EQ(find_member(events[0].detail, "raw"), unknown);
}

// Bytes that no agent prints: the driver answers with events that the intake takes, or with none.
TEST(GeminiProperty, DamagedLinesNeverPoisonTheLog) {
  std::mt19937_64 random(test_seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (const auto& recording : gemini_recordings()) {
    std::string damaged;
    for (auto line : lines_of(recording.out)) {
      if (line.empty() || line.size() > 20'000) continue;
      constexpr std::string_view kNasty = "{}[]\",:\\u0\x01\xff n";
      for (int damage = 0; damage < 3; ++damage) line[random() % line.size()] = kNasty[random() % kNasty.size()];
      damaged += line + "\n";
    }
    Recording broken = recording;
    broken.out = damaged;
    for (const auto& event : translate_gemini(broken).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 0);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 1000);
    }
  }
}

}  // namespace
}  // namespace shepherd
