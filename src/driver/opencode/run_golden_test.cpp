#include <gtest/gtest.h>

#include "driver/opencode/opencode_run.h"
#include "driver/test_golden.h"
#include "driver/test_recording.h"
#include "driver/test_review.h"
#include "json/scan.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

Launch run_launch() {
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  return launch;
}

std::vector<Recording> run_recordings() {
  std::vector<Recording> recordings = read_recordings("opencode");
  std::erase_if(recordings, [](const Recording& each) { return each.name.starts_with("opencode-serve"); });
  return recordings;
}

Translation translate_run(const Recording& recording, std::string_view bytes) {
  OpenCodeRun driver;
  EXPECT_TRUE(driver.launch(run_launch()).has_value());
  return translate_with(driver, recording, bytes);
}

Translation translate_run(const Recording& recording) {
  return translate_run(recording, recording.out);
}

std::vector<DriverEvent> events_of(std::string_view bytes) {
  OpenCodeRun driver;
  EXPECT_TRUE(driver.launch(run_launch()).has_value());
  Actions out;
  for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
  return out.take_events();
}

TEST(OpenCodeRunGolden, EveryRecordingTranslatesAsExpected) {
  auto recordings = run_recordings();
  EXPECT_EQ(recordings.size(), 6U);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    expect_golden("opencode", recording.name, golden_lines(translate_run(recording)));
  }
}

TEST(OpenCodeRunGolden, EverythingThatItPrintsIsKnown) {
  for (const auto& recording : run_recordings()) {
    auto translation = translate_run(recording);
    EXPECT_EQ(std::ranges::count(translation.out.events(), EventType::log, &DriverEvent::type),
              recording.errors.empty() ? 0 : 1)
        << recording.name;
  }
}

TEST(OpenCodeRunGolden, EveryEventPassesTheDoor) {
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  intake.now_ms = kRecordingStart;
  std::map<std::string, int> ids;
  for (const auto& recording : run_recordings()) {
    SCOPED_TRACE(recording.name);
    for (const auto& event : translate_run(recording).out.take_events()) {
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

TEST(OpenCodeRunReview, AsAPersonReadTheRecordings) {
  auto reviewed = read_reviews("opencode");
  auto recordings = run_recordings();
  std::erase_if(reviewed, [](const auto& each) { return each.first.starts_with("opencode-serve"); });
  expect_each_reviewed(reviewed, recordings);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    Translation translation = translate_run(recording);
    expect_calls_and_end(translation, reviewed[recording.name]);
    expect_summaries_for_people(translation);
    expect_one_fatal_error(translation, reviewed[recording.name]);
    expect_quotes_seen(translation, reviewed[recording.name].seen);
  }
}

// What an exit code says is kept as a number, and a command that failed is a failure.
TEST(OpenCodeRunReview, AFailedCommandIsAFailure) {
  Translation translation = translate_run(read_recording("opencode", "opencode-01-run-tools.jsonl"));
  std::size_t failures = 0;
  for (const auto& event : translation.out.events()) {
    if (event.type != EventType::tool_result || find_member(find_member(event.json, "output"), "success") == "true")
      continue;
    ++failures;
    if (summary_of(event) == "out err") {
      EXPECT_EQ(data_of(event), R"({"exitCode":3})");
    }
  }
  EXPECT_EQ(failures, 2U);
}

// A run that is cut anywhere gives what its complete lines give, and little more for the piece.
TEST(OpenCodeRunProperty, TruncationLosesNoCompleteLine) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : run_recordings()) {
    if (recording.out.empty()) continue;
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

TEST(OpenCodeRunProperty, UnknownFieldsChangeNothingAndUnknownRecordsAreKept) {
  for (const auto& recording : run_recordings()) {
    if (recording.out.empty()) continue;
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
TEST(OpenCodeRunProperty, DamagedLinesNeverPoisonTheLog) {
  std::mt19937_64 random(test_seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (const auto& recording : run_recordings()) {
    std::string damaged;
    for (auto line : lines_of(recording.out)) {
      if (line.empty() || line.size() > 20'000) continue;
      constexpr std::string_view kNasty = "{}[]\",:\\u0\x01\xff n";
      for (int damage = 0; damage < 3; ++damage) line[random() % line.size()] = kNasty[random() % kNasty.size()];
      damaged += line + "\n";
    }
    Recording broken = recording;
    broken.out = damaged;
    for (const auto& event : translate_run(broken).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 0);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 1000);
    }
  }
}

}  // namespace
}  // namespace shepherd
