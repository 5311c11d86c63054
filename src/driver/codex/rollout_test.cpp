#include "driver/codex/rollout.h"

#include <gtest/gtest.h>

#include <set>

#include "driver/codex/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

std::vector<std::string> rollout_lines() {
  return lines_of(codex_recording("codex-01-exec-tools.rollout").out);
}

TEST(CodexRollout, IsTheEventsOfATask) {
  ImportedSession session = read_codex_rollout(rollout_lines());
  EXPECT_EQ(session.agent, "codex");
  EXPECT_EQ(session.session_id, "01a1e084-3774-77e3-bcf3-2762b7953482");
  EXPECT_EQ(session.cwd, "/workspace");
  EXPECT_EQ(session.model, "gpt-5.5");
  EXPECT_EQ(session.prompt, "Fix the add function");
  EXPECT_EQ(session.state, State::completed);
  ASSERT_FALSE(session.events.empty());
  EXPECT_EQ(session.events.front().event.type, EventType::session_start);
  EXPECT_LT(session.first_ms, session.last_ms);
  std::set<std::string> ids;
  for (const auto& [at_ms, event] : session.events) {
    EXPECT_GE(at_ms, session.first_ms - 100);
    EXPECT_LE(at_ms, session.last_ms);
    std::string id = text_member(event.json, "eventID");
    EXPECT_NE(id, "") << event.json;
    EXPECT_TRUE(ids.insert(id).second) << id << " is there twice";
  }
  std::size_t usage = newest_usage(session);
  ASSERT_LT(usage, session.events.size());
  std::string_view totals = find_member(session.events[usage].event.json, "data");
  EXPECT_EQ(find_member(totals, "inputTokens"), "43761");
  EXPECT_EQ(find_member(totals, "cacheReadTokens"), "43760");
}

TEST(CodexRollout, ReadingItTwiceGivesTheSameIds) {
  ImportedSession first = read_codex_rollout(rollout_lines());
  ImportedSession second = read_codex_rollout(rollout_lines());
  ASSERT_EQ(first.events.size(), second.events.size());
  for (std::size_t i = 0; i < first.events.size(); ++i) {
    EXPECT_EQ(first.events[i].event.json, second.events[i].event.json);
  }
}

TEST(CodexRollout, AFileThatBreaksOffHasFailed) {
  auto lines = rollout_lines();
  lines.resize(lines.size() - 5);
  ImportedSession session = read_codex_rollout(lines);
  EXPECT_EQ(session.state, State::failed);
  EXPECT_EQ(session.message, "The session's file breaks off in the middle of a turn");
  EXPECT_TRUE(read_codex_rollout({}).events.empty());
}

}  // namespace
}  // namespace shepherd
