#include <gtest/gtest.h>

#include "driver/acp/test_play.h"
#include "driver/test_golden.h"
#include "driver/test_review.h"
#include "model/condense.h"

namespace shepherd {
namespace {

// How many `log` events a recording may give besides standard error: what is not listed gives none, so a line that the
// driver no longer understands is noticed here.
const std::map<std::string, std::size_t> kAcpLogs{
    {"acp-claude-01-permissions", 1},  // _auth/status_update
    {"acp-claude-02-cancel", 1},       // the same
};

TEST(AcpGolden, EveryRecordingTranslatesAsExpected) {
  auto recordings = read_recordings("acp");
  EXPECT_GE(recordings.size(), 6U);
  for (const auto& recording : recordings) {
    SCOPED_TRACE(recording.name);
    expect_golden("acp", recording.name, golden_lines(acp_translate(recording)));
  }
}

TEST(AcpGolden, OnlyKnownRecordingsGiveLogEvents) {
  for (const auto& recording : read_recordings("acp")) {
    Translation translation = acp_translate(recording);
    std::size_t logs = 0;
    std::string summaries;
    for (const auto& event : translation.out.events()) {
      if (event.type != EventType::log || text_member(data_of(event), "stream") == "stderr") continue;
      ++logs;
      summaries += event.json.substr(0, 200) + "\n";
    }
    auto allowed = kAcpLogs.find(recording.name);
    EXPECT_EQ(logs, allowed == kAcpLogs.end() ? 0 : allowed->second) << recording.name << "\n" << summaries;
  }
}

TEST(AcpReview, EveryRecordingIsReviewed) {
  expect_each_reviewed(read_reviews("acp"), read_recordings("acp"));
}

TEST(AcpReview, RecordingsAreAsReviewed) {
  auto reviewed = read_reviews("acp");
  for (const auto& recording : read_recordings("acp")) {
    SCOPED_TRACE(recording.name);
    Translation translation = acp_translate(recording);
    const Review& review = reviewed[recording.name];
    expect_calls_and_end(translation, review);
    expect_summaries_for_people(translation);
    expect_one_fatal_error(translation, review);
    expect_quotes_seen(translation, review.seen);
  }
}

// Each call that was told of has one result, and each command one last word.
TEST(AcpReview, NothingStaysOpen) {
  for (const auto& recording : read_recordings("acp")) {
    SCOPED_TRACE(recording.name);
    Translation translation = acp_translate(recording);
    std::map<std::string, int> calls;
    for (const auto& event : translation.out.events()) {
      bool begins = event.type == EventType::tool_call, ends = event.type == EventType::tool_result;
      if (begins || ends) {
        EXPECT_EQ(calls[text_member(event.json, "callID")]++, begins ? 0 : 1);
      }
    }
    for (const auto& [id, seen] : calls) EXPECT_EQ(seen, 2) << id;
    std::map<std::string, CommandState> states;
    for (const auto& update : translation.out.commands()) states[update.id] = update.state;
    for (const auto& [id, state] : states) EXPECT_EQ(state, CommandState::acknowledged) << id;
    EXPECT_GE(states.size(), 2U);
  }
}

std::vector<DriverEvent> acp_events_of(std::string_view bytes) {
  AcpAgent driver;
  Launch launch;
  launch.command = {"agent"};
  launch.prompt = "Do it";
  Actions out;
  EXPECT_TRUE(driver.launch(launch).has_value());
  for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
  return out.take_events();
}

// A run that is cut anywhere gives what its complete lines give, and little more for the piece.
TEST(AcpProperty, TruncationLosesNoCompleteLine) {
  std::mt19937_64 random(test_seed());
  for (const auto& recording : read_recordings("acp")) {
    for (int round = 0; round < 6; ++round) {
      std::size_t size = random() % recording.out.size();
      std::size_t complete = recording.out.rfind('\n', size == 0 ? 0 : size - 1);
      complete = size == 0 || complete == std::string::npos ? 0 : complete + 1;
      auto whole = acp_events_of(std::string_view(recording.out).substr(0, complete));
      auto cut = acp_events_of(std::string_view(recording.out).substr(0, size));
      ASSERT_GE(cut.size(), whole.size()) << recording.name << " at " << size;
      for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(cut[i].json, whole[i].json);
    }
  }
}

// Bytes that no agent prints, and members that no one knows: the intake takes what becomes of them.
TEST(AcpProperty, DamagedLinesNeverPoisonTheLog) {
  std::mt19937_64 random(test_seed());
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  for (const auto& recording : read_recordings("acp")) {
    AcpAgent driver;
    Launch launch;
    launch.command = {"agent"};
    launch.prompt = "Do it";
    Actions out;
    ASSERT_TRUE(driver.launch(launch).has_value());
    for (auto bytes : lines_of(recording.out)) {
      if (bytes.empty() || bytes.size() > 20'000) continue;
      for (int damage = 0; damage < 3; ++damage) {
        constexpr std::string_view kNasty = "{}[]\",:\\u0\x01\xff n";
        bytes[random() % bytes.size()] = kNasty[random() % kNasty.size()];
      }
      for (const auto& line : lines_of(bytes)) driver.record(line, kRecordingStart, out);
    }
    driver.finish({}, kRecordingStart, out);
    for (const auto& event : out.events()) {
      std::string posted;
      append_posted(posted, event, 0);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 1000);
    }
  }
}

TEST(AcpProperty, UnknownMembersChangeNothing) {
  for (const auto& recording : read_recordings("acp")) {
    std::string more;
    for (const auto& line : lines_of(recording.out)) {
      more += line.substr(0, line.size() - 1) + R"(,"news":{"of":["tomorrow",null]}})" + "\n";
    }
    auto before = acp_events_of(recording.out), after = acp_events_of(more);
    ASSERT_EQ(before.size(), after.size()) << recording.name;
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].json, after[i].json);
  }
}

}  // namespace
}  // namespace shepherd
