#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "driver/claude/test_recording.h"
#include "driver/test_golden.h"
#include "driver/test_review.h"
#include "json/scan.h"
#include "model/condense.h"
#include "model/limits.h"

namespace shepherd {
namespace {

// How many `log` events a recording may give: what is not listed gives none, so a line that the driver no longer
// understands is noticed here.
const std::map<std::string, std::size_t> kLogs{
    {"claude-27-refusal", 1},               // a notice of the agent
    {"claude-29-hooks", 24},                // one for each hook that ran
    {"claude-30-hook-blocks", 2},           // the same
    {"claude-36-resume-unknown", 1},        // standard error
    {"claude-39-no-prompt", 1},             // the same
    {"claude-40-no-verbose", 1},            // the same
    {"claude-42-sigkill-partial-line", 1},  // half a line
    {"claude-bidi-06-bad-input", 1},        // standard error
    {"claude-bidi-14-not-json", 1},         // the same
};

TEST(ClaudeGolden, EveryRecordingTranslatesAsExpected) {
  auto recordings = claude_recordings();
  EXPECT_GE(recordings.size(), 70U);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    expect_golden("claude", recording.name, golden_lines(translate(recording, recording.out)));
  }
}

TEST(ClaudeGolden, OnlyKnownRecordingsGiveLogEvents) {
  for (const auto& recording : claude_recordings()) {
    auto translation = translate(recording, recording.out);
    std::size_t logs = 0;
    std::string summaries;
    for (const auto& event : translation.out.events()) {
      if (event.type != EventType::log) continue;
      ++logs;
      summaries += event.json.substr(0, 200) + "\n";
    }
    auto allowed = kLogs.find(recording.name);
    EXPECT_EQ(logs, allowed == kLogs.end() ? 0 : allowed->second) << recording.name << "\n" << summaries;
  }
}

// What a server is configured to keep is for the server to cut: with large limits everything is stored as it comes.
TEST(ClaudeGolden, EveryEventPassesTheDoorUnchanged) {
  CondenseRules rules;
  rules.command_characters = rules.result_characters = rules.string_characters = kMaxEventBytes;
  Intake intake;
  intake.condense = &rules;
  intake.now_ms = kRecordingStart;
  for (const auto& recording : claude_recordings()) {
    SCOPED_TRACE(recording.name);
    for (const auto& event : translate(recording, recording.out).out.take_events()) {
      std::string posted;
      append_posted(posted, event, 7);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 500);
      ASSERT_EQ(batch->drafts.size(), 1U);
      const Draft& draft = batch->drafts.front();
      EXPECT_EQ(draft.type, event.type);
      EXPECT_EQ(draft.producer_sequence, 7U);
      if (event.json.find("_string\":\"") != std::string::npos) continue;  // of an edit only the lengths are kept
      EXPECT_EQ(draft.detail, event.detail);
      EXPECT_FALSE(draft.stamped);
      std::string expected = event.json;
      if (auto at = expected.find(",\"eventID\":"); at != std::string::npos) expected = expected.substr(0, at) + "}";
      EXPECT_EQ("{" + std::string(batch->body(draft)) + "}", expected);
    }
  }
}

TEST(ClaudeGolden, EventIdsAreUniqueWithinARecording) {
  for (const auto& recording : claude_recordings()) {
    std::map<std::string, int> seen;
    for (const auto& event : translate(recording, recording.out).out.take_events()) {
      auto id = string_value(find_member(event.json, "eventID"));
      if (id) {
        EXPECT_EQ(++seen[*id], 1) << recording.name << " " << *id;
      }
    }
  }
}

TEST(ClaudeGolden, RawRecordIsTheLineItCameFrom) {
  ClaudeRecording recording = claude_recording("claude-01-tools.jsonl");
  auto lines = lines_of(recording.out);
  std::size_t found = 0;
  for (const auto& event : translate(recording, recording.out).out.take_events()) {
    std::string raw(find_member(event.detail, "raw"));
    if (raw.empty()) continue;
    EXPECT_NE(std::find(lines.begin(), lines.end(), raw), lines.end()) << raw.substr(0, 200);
    ++found;
  }
  EXPECT_GE(found, 20U);
}

// Cost is the agent's own total: the newest one, however many results and message blocks came before.
TEST(ClaudeGolden, CostIsTheAgentsOwnTotal) {
  auto cost = [](const char* name) {
    ClaudeRecording recording = claude_recording(name);
    auto translation = translate(recording, recording.out);
    double last = -1;
    for (const auto& event : translation.out.events()) {
      if (event.type != EventType::usage) continue;
      last = number_value(find_member(find_member(event.json, "data"), "costUSD")).value_or(-1);
    }
    return last;
  };
  EXPECT_DOUBLE_EQ(cost("claude-01-tools.jsonl"), 0.038414199999999996);
  EXPECT_DOUBLE_EQ(cost("claude-20-background-bash.jsonl"), 0.012612600000000002);
  EXPECT_DOUBLE_EQ(cost("claude-bidi-17-priority.jsonl"), 0.0159146);
  EXPECT_DOUBLE_EQ(cost("claude-13-batch-json.json"), 0.0080258);
  EXPECT_DOUBLE_EQ(cost("claude-01-tools.transcript.jsonl"), 0.038414199999999996);
}

// A transcript is a file that a session left: it does not say how the program ended.
bool is_transcript(const ClaudeRecording& recording) {
  return recording.name.find(".transcript") != std::string::npos;
}

TEST(ClaudeReview, EveryRecordingIsReviewed) {
  expect_each_reviewed(read_reviews("claude"), claude_recordings());
}

TEST(ClaudeReview, RecordingsAreAsReviewed) {
  auto reviewed = read_reviews("claude");
  for (const auto& recording : claude_recordings()) {
    SCOPED_TRACE(recording.name);
    Translation translation = translate(recording, recording.out);
    const Review& review = reviewed[recording.name];
    expect_calls_and_end(translation, review, !is_transcript(recording));
    expect_summaries_for_people(translation);
    if (!is_transcript(recording)) expect_one_fatal_error(translation, review);
    expect_quotes_seen(translation, review.seen);
  }
}

// The operator or the runner that made it end says why.
TEST(ClaudeReview, AnEndThatWasAskedForIsNoFailure) {
  ClaudeRecording recording = claude_recording("claude-12-sigterm-in-tool.jsonl");
  auto fatal_errors = [&](bool stopped, bool by_runner) {
    ClaudeCode driver;
    Actions out;
    EXPECT_TRUE(driver.launch(launch_as(OutputFormat::bidirectional)).has_value());
    for (const auto& line : lines_of(recording.out)) driver.record(line, kRecordingStart, out);
    Command stop;
    stop.id = "stop";
    stop.kind = CommandKind::stop;
    if (stopped) driver.command(stop, kRecordingStart, out);
    ExitFacts exit = recording.exit;
    exit.by_runner = by_runner;
    driver.finish(exit, kRecordingStart, out);
    return std::ranges::count_if(out.events(), is_fatal);
  };
  EXPECT_EQ(fatal_errors(false, false), 1);
  EXPECT_EQ(fatal_errors(true, false), 0);
  EXPECT_EQ(fatal_errors(false, true), 0);
}

TEST(ClaudeProperty, AnySplitGivesTheSameLines) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : claude_recordings()) {
    auto whole = lines_of(recording.out);
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
    EXPECT_EQ(pieced, whole) << recording.name;
  }
}

// A run that is cut anywhere gives what its complete lines give, and at most one event more for the piece.
TEST(ClaudeProperty, TruncationLosesNoCompleteLine) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : claude_recordings()) {
    if (recording.format == OutputFormat::text || recording.format == OutputFormat::batch) continue;
    for (int round = 0; round < 4 && !recording.out.empty(); ++round) {
      std::size_t size = random() % recording.out.size();
      std::size_t complete = recording.out.rfind('\n', size == 0 ? 0 : size - 1);
      complete = size == 0 || complete == std::string::npos ? 0 : complete + 1;
      auto events_of = [&](std::string_view bytes) {
        Actions out;
        ClaudeCode driver;
        EXPECT_TRUE(driver.launch(launch_as(recording.format)).has_value());
        for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
        return out.take_events();
      };
      auto whole = events_of(std::string_view(recording.out).substr(0, complete));
      auto cut = events_of(std::string_view(recording.out).substr(0, size));
      ASSERT_GE(cut.size(), whole.size()) << recording.name << " at " << size;
      EXPECT_LE(cut.size(), whole.size() + 3) << recording.name << " at " << size;
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(cut[i].json, whole[i].json);
    }
  }
}

// Bytes that no agent prints: the driver answers with events that the intake takes, or with none.
TEST(ClaudeProperty, DamagedLinesNeverPoisonTheLog) {
  std::mt19937_64 random(test_seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (const auto& recording : claude_recordings()) {
    ClaudeCode driver;
    ASSERT_TRUE(driver.launch(launch_as(OutputFormat::bidirectional)).has_value());
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
