#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "driver/codex/test_recording.h"
#include "driver/test_golden.h"
#include "driver/test_review.h"
#include "json/scan.h"
#include "model/limits.h"

namespace shepherd {
namespace {

// How many `log` events a recording may give besides those of standard error: what is not listed gives none, so a line
// that the driver no longer understands is noticed here.
const std::map<std::string, std::size_t> kCodexLogs{
    {"codex-app-01-steer-interrupt", 4},  // a warning about the sandbox, a notice, and two answers that are not ours
};

bool is_from_stderr(const DriverEvent& event) {
  return text_member(data_of(event), "stream") == "stderr";
}

TEST(CodexGolden, EveryRecordingTranslatesAsExpected) {
  auto recordings = read_recordings("codex");
  EXPECT_GE(recordings.size(), 20U);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    expect_golden("codex", recording.name, golden_lines(translate_codex(recording, recording.out)));
  }
}

TEST(CodexGolden, OnlyKnownRecordingsGiveLogEvents) {
  for (const auto& recording : read_recordings("codex")) {
    std::size_t logs = 0;
    std::string summaries;
    for (const auto& event : translate_codex(recording, recording.out).out.take_events()) {
      if (event.type != EventType::log || is_from_stderr(event)) continue;
      ++logs;
      summaries += event.json.substr(0, 300) + "\n";
    }
    auto allowed = kCodexLogs.find(recording.name);
    std::size_t most = allowed != kCodexLogs.end() ? allowed->second : recording.both_directions() ? 1 : 0;
    EXPECT_EQ(logs, most) << recording.name << "\n" << summaries;
  }
}

// With large limits everything is stored as it comes.
TEST(CodexGolden, EveryEventPassesTheDoor) {
  CondenseRules rules;
  rules.command_characters = rules.result_characters = rules.string_characters = kMaxEventBytes;
  Intake intake;
  intake.condense = &rules;
  intake.now_ms = kRecordingStart;
  for (const auto& recording : read_recordings("codex")) {
    SCOPED_TRACE(recording.name);
    for (const auto& event : translate_codex(recording, recording.out).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 7);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 500);
      ASSERT_EQ(batch->drafts.size(), 1U);
      EXPECT_EQ(batch->drafts.front().type, event.type);
      EXPECT_EQ(batch->drafts.front().detail, event.detail);
      EXPECT_FALSE(batch->drafts.front().stamped);
    }
  }
}

TEST(CodexGolden, EventIdsAreUniqueWithinARecording) {
  for (const auto& recording : read_recordings("codex")) {
    std::map<std::string, int> seen;
    for (const auto& event : translate_codex(recording, recording.out).out.take_events()) {
      auto id = string_value(find_member(event.json, "eventID"));
      if (id) {
        EXPECT_EQ(++seen[*id], 1) << recording.name << " " << *id;
      }
    }
  }
}

// Every call has exactly one result, whatever became of it.
TEST(CodexGolden, EveryCallHasOneResult) {
  for (const auto& recording : read_recordings("codex")) {
    std::map<std::string, int> open;
    for (const auto& event : translate_codex(recording, recording.out).out.take_events()) {
      if (event.type == EventType::tool_call) ++open[text_member(event.json, "callID")];
      if (event.type == EventType::tool_result) --open[text_member(event.json, "callID")];
    }
    for (const auto& [id, count] : open) EXPECT_EQ(count, 0) << recording.name << " " << id;
  }
}

// The three dialects tell of one run: exec's stream and the file that the same run left have the same calls.
TEST(CodexGolden, AStreamAndItsFileTellTheSame) {
  auto steps = [](std::string_view name) {
    Recording recording = codex_recording(name);
    std::vector<std::string> told;
    for (const auto& event : translate_codex(recording, recording.out).out.take_events()) {
      bool step = event.type == EventType::tool_call || event.type == EventType::tool_result ||
                  event.type == EventType::thinking;
      std::string summary = summary_of(event);
      if (std::size_t path = summary.find("/workspace/"); path != std::string::npos) summary.erase(path, 11);
      if (step && !summary.starts_with("Success. Updated") && !summary.starts_with("Done")) told.push_back(summary);
    }
    return told;
  };
  EXPECT_EQ(steps("codex-01-exec-tools"), steps("codex-01-exec-tools.rollout"));
}

TEST(CodexReview, EveryRecordingIsReviewed) {
  expect_each_reviewed(read_reviews("codex"), read_recordings("codex"));
}

TEST(CodexReview, RecordingsAreAsReviewed) {
  auto reviewed = read_reviews("codex");
  for (const auto& recording : read_recordings("codex")) {
    SCOPED_TRACE(recording.name);
    Translation translation = translate_codex(recording, recording.out);
    const Review& review = reviewed[recording.name];
    expect_calls_and_end(translation, review, !is_rollout(recording));
    expect_summaries_for_people(translation);
    if (!is_rollout(recording)) expect_one_fatal_error(translation, review);
    expect_quotes_seen(translation, review.seen);
  }
}

TEST(CodexProperty, AnySplitGivesTheSameEvents) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : read_recordings("codex")) {
    std::vector<std::string> pieced;
    LineSplitter splitter;
    auto sink = [&](const Line& line) { pieced.emplace_back(line.text); };
    std::string_view rest = recording.out;
    while (!rest.empty()) {
      std::size_t size = std::min<std::size_t>(rest.size(), 1 + random() % (random() % 4 == 0 ? 5'000 : 7));
      splitter.add(rest.substr(0, size), sink);
      rest.remove_prefix(size);
    }
    splitter.finish(sink);
    EXPECT_EQ(pieced, lines_of(recording.out)) << recording.name;
  }
}

std::vector<DriverEvent> codex_events(const Recording& recording, std::string_view bytes) {
  Actions out;
  Codex driver;
  EXPECT_TRUE(driver.launch(codex_launch(format_of(recording))).has_value());
  for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
  return out.take_events();
}

// A run that is cut anywhere gives what its complete lines give, and at most a few events more for the piece.
TEST(CodexProperty, TruncationLosesNoCompleteLine) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : read_recordings("codex")) {
    for (int round = 0; round < 4; ++round) {
      std::size_t size = random() % recording.out.size();
      std::size_t complete = recording.out.rfind('\n', size == 0 ? 0 : size - 1);
      complete = size == 0 || complete == std::string::npos ? 0 : complete + 1;
      auto whole = codex_events(recording, std::string_view(recording.out).substr(0, complete));
      auto cut = codex_events(recording, std::string_view(recording.out).substr(0, size));
      ASSERT_GE(cut.size(), whole.size()) << recording.name << " at " << size;
      EXPECT_LE(cut.size(), whole.size() + 5) << recording.name << " at " << size;
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(cut[i].json, whole[i].json);
    }
  }
}

// A later version says more than this one knows: that changes nothing in what is understood.
TEST(CodexProperty, UnknownMembersChangeNothing) {
  for (const auto& recording : read_recordings("codex")) {
    std::string more;
    for (const auto& line : lines_of(recording.out)) {
      more.append(R"({"aNewMember":{"deep":[1,{"type":"x"}]},)").append(line.substr(1)).push_back('\n');
    }
    auto known = codex_events(recording, recording.out);
    auto found = codex_events(recording, more);
    ASSERT_EQ(found.size(), known.size()) << recording.name;
    for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(found[i].json, known[i].json) << recording.name;
  }
}

// Bytes that no agent prints: the driver answers with events that the intake takes, or with none.
TEST(CodexProperty, DamagedLinesNeverPoisonTheLog) {
  std::mt19937_64 random(test_seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (const auto& recording : read_recordings("codex")) {
    Codex driver;
    ASSERT_TRUE(driver.launch(codex_launch()).has_value());
    for (auto bytes : lines_of(recording.out)) {
      if (bytes.empty() || bytes.size() > 20'000) continue;
      for (int damage = 0; damage < 3; ++damage) {
        constexpr std::string_view kNasty = "{}[]\",:\\u0\x01\xff n";
        bytes[random() % bytes.size()] = kNasty[random() % kNasty.size()];
      }
      Actions out;
      for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
      for (const auto& event : out.events()) {
        std::string posted;
        append_posted(posted, event, 0);
        auto batch = decode_events(posted, Framing::json, intake);
        ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 1000);
      }
    }
  }
}

}  // namespace
}  // namespace shepherd
