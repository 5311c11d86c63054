#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "driver/claude/test_judgement.h"
#include "driver/claude/test_recording.h"
#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"
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

// Names of the members of a detail.
std::string detail_names(std::string_view detail) {
  std::string names = "[";
  JsonMembers members(detail);
  while (members.next()) names.append(names.size() > 1 ? "," : "").append("\"").append(members.key()).append("\"");
  return names + "]";
}

std::string text_line(std::string_view key, std::string_view text) {
  std::string line = object_text([&](JsonObject& object) { object.text(key, text); });
  return line;
}

std::string as_lines(const Translation& translation) {
  std::string lines;
  for (const auto& sent : translation.out.events()) {
    DriverEvent event = as_kept(sent);
    std::string line = event.json;
    line.pop_back();
    if (!event.detail.empty()) line.append(",\"detail\":").append(detail_names(event.detail));
    lines.append(line).append("}\n");
  }
  for (const auto& delta : translation.out.deltas()) {
    std::string line = object_text([&](JsonObject& object) {
      object.text("delta", delta.block);
      object.text("text", delta.text);
    });
    lines.append(line).push_back('\n');
  }
  for (const auto& line : lines_of(translation.out.written())) lines.append(text_line("toAgent", line)).push_back('\n');
  for (const auto& update : translation.out.commands()) {
    lines.append(encode_command_result(update.id, update.state, update.reason)).push_back('\n');
  }
  std::string last = object_text([&](JsonObject& object) {
    object.text("verdict", name(translation.verdict.state));
    object.text("message", translation.verdict.message);
    if (const auto& retry = translation.verdict.retry) object.text("retryWith", retry->options.at("output_format"));
    object.text("session", translation.hints.session_id);
    if (translation.hints.cost_usd) object.number("costUSD", *translation.hints.cost_usd);
    object.number("turns", std::uint64_t{translation.hints.turns});
    object.number("records", translation.hints.records);
    object.number("passedOver", translation.hints.passed_over);
  });
  return lines + last + "\n";
}

bool updating() {
  const char* asked = std::getenv("SHEPHERD_UPDATE_GOLDEN");
  return asked != nullptr && std::string_view(asked) == "1";
}

TEST(ClaudeGolden, EveryRecordingTranslatesAsExpected) {
  auto recordings = all_recordings();
  EXPECT_GE(recordings.size(), 70U);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    std::string found = as_lines(translate(recording, recording.out));
    auto path = claude_golden() / "expected" / (recording.name + ".ndjson");
    if (updating()) {
      std::ofstream(path, std::ios::binary) << found;
      continue;
    }
    EXPECT_EQ(found, read_file(path)) << "see tests/golden/claude/README.md for how to update";
  }
}

TEST(ClaudeGolden, OnlyKnownRecordingsGiveLogEvents) {
  for (const auto& recording : all_recordings()) {
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
  for (const auto& recording : all_recordings()) {
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
  for (const auto& recording : all_recordings()) {
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
  Recording recording = read_recording(claude_golden() / "recordings" / "claude-01-tools.jsonl");
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
    Recording recording = read_recording(claude_golden() / "recordings" / name);
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

// What a person who read a recording says of it: tests/golden/claude/REVIEWED.tsv.
struct Review {
  std::size_t calls = 0;
  std::string end, error, seen;
};

std::map<std::string, Review> reviews() {
  std::map<std::string, Review> all;
  for (const auto& line : lines_of(read_file(claude_golden() / "REVIEWED.tsv"))) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> columns{""};
    for (char c : line) {
      if (c == '\t') {
        columns.emplace_back();
      } else {
        columns.back().push_back(c);
      }
    }
    EXPECT_EQ(columns.size(), 5U) << line;
    columns.resize(5);
    Review review{std::strtoul(columns[1].c_str(), nullptr, 10), columns[2], columns[3], columns[4]};
    EXPECT_TRUE(all.emplace(columns[0], review).second) << columns[0] << " is there twice";
  }
  return all;
}

// A transcript is a file that a session left: it does not say how the program ended.
bool is_transcript(const Recording& recording) {
  return recording.name.find(".transcript") != std::string::npos;
}

TEST(ClaudeReview, EveryRecordingIsReviewed) {
  auto reviewed = reviews();
  for (const auto& recording : all_recordings()) {
    EXPECT_EQ(reviewed.erase(recording.name), 1U) << recording.name << ": read it and say what people should see";
  }
  for (const auto& [name, review] : reviewed) ADD_FAILURE() << name << " is no recording";
}

TEST(ClaudeReview, CallsAndEndsAreAsReviewed) {
  auto reviewed = reviews();
  for (const auto& recording : all_recordings()) {
    SCOPED_TRACE(recording.name);
    Translation translation = translate(recording, recording.out);
    const Review& review = reviewed[recording.name];
    auto calls = std::ranges::count(translation.out.events(), EventType::tool_call, &DriverEvent::type);
    EXPECT_EQ(static_cast<std::size_t>(calls), review.calls);
    EXPECT_EQ(is_transcript(recording) ? "-" : name(translation.verdict.state), review.end);
    EXPECT_FALSE(review.seen.empty());
  }
}

std::string_view data_of(const DriverEvent& event) {
  return find_member(event.json, "data");
}

std::string summary_of(const DriverEvent& event) {
  return text_member(event.json, "summary");
}

bool is_fatal(const DriverEvent& event) {
  return event.type == EventType::error && find_member(data_of(event), "fatal") == "true";
}

TEST(ClaudeReview, EverySummaryIsForPeople) {
  for (const auto& recording : all_recordings()) {
    SCOPED_TRACE(recording.name);
    for (const auto& event : translate(recording, recording.out).out.take_events()) {
      std::vector<std::string> ids{text_member(find_member(data_of(event), "task"), "id"),
                                   text_member(event.json, "callID"), text_member(event.json, "parentCallID"),
                                   text_member(event.json, "sessionID")};
      std::string summary = summary_of(event);
      for (const auto& fault : faults_of(summary, ids)) ADD_FAILURE() << fault << ": " << summary;
      EXPECT_FALSE(summary.empty()) << event.json.substr(0, 300);
    }
  }
}

// One error says why a run has failed, in the words of the verdict, and the agent does nothing after it.
TEST(ClaudeReview, AFailedRunHasOneFatalError) {
  auto reviewed = reviews();
  for (const auto& recording : all_recordings()) {
    if (is_transcript(recording)) continue;
    SCOPED_TRACE(recording.name);
    Translation translation = translate(recording, recording.out);
    const auto& events = translation.out.events();
    bool failed = translation.verdict.state == State::failed;
    EXPECT_EQ(std::ranges::count_if(events, is_fatal), failed ? 1 : 0);
    auto fatal = std::ranges::find_if(events, is_fatal);
    EXPECT_EQ(fatal == events.end() ? "-" : text_member(data_of(*fatal), "code"), reviewed[recording.name].error);
    if (fatal == events.end()) continue;
    EXPECT_EQ(summary_of(*fatal), one_line(translation.verdict.message, kTextSummaryCharacters));
    for (auto after = std::next(fatal); after != events.end(); ++after) {
      EXPECT_TRUE(after->type == EventType::usage || after->type == EventType::log) << after->json.substr(0, 200);
    }
  }
}

// The operator or the runner that made it end says why.
TEST(ClaudeReview, AnEndThatWasAskedForIsNoFailure) {
  Recording recording = read_recording(claude_golden() / "recordings" / "claude-12-sigterm-in-tool.jsonl");
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

// The words that a review quotes are there to be read.
TEST(ClaudeReview, WhatIsQuotedIsSeen) {
  auto reviewed = reviews();
  for (const auto& recording : all_recordings()) {
    Translation translation = translate(recording, recording.out);
    std::string seen = one_line(translation.verdict.message, kMaxEventTextBytes) + "\n";
    for (const auto& event : translation.out.events()) seen += summary_of(event) + "\n";
    const std::string& words = reviewed[recording.name].seen;
    for (std::size_t open = words.find('"'); open != std::string::npos; open = words.find('"', open)) {
      std::size_t close = words.find('"', open + 1);
      ASSERT_NE(close, std::string::npos) << recording.name << ": a quote does not end";
      std::string quoted = words.substr(open + 1, close - open - 1);
      EXPECT_NE(seen.find(quoted), std::string::npos) << recording.name << " does not show: " << quoted << "\n" << seen;
      open = close + 1;
    }
  }
}

std::uint64_t seed() {
  const char* given = std::getenv("SHEPHERD_SEED");
  std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("SHEPHERD_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

TEST(ClaudeProperty, AnySplitGivesTheSameLines) {
  std::mt19937_64 random(seed());
  for (const auto& recording : all_recordings()) {
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
  std::mt19937_64 random(seed());
  for (const auto& recording : all_recordings()) {
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
  std::mt19937_64 random(seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (const auto& recording : all_recordings()) {
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
