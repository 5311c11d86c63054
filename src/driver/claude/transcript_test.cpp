#include "driver/claude/transcript.h"

#include <gtest/gtest.h>

#include <set>

#include "driver/claude/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

TranscriptFile file(const std::string& name, const std::string& parent = "") {
  return {parent, lines_of(read_file(golden_folder("claude") / "recordings" / (name + ".jsonl")))};
}

std::string parent_of_recorded_agent() {
  std::string meta = read_file(golden_folder("claude") / "subagents" / "agent-aa992c9e47a3b0ad9.meta.json");
  return string_value(find_member(meta, "toolUseId")).value_or("");
}

ImportedSession with_subagent() {
  return read_claude_transcript(
      {file("claude-18-subagent.transcript"),
       file("claude-18-subagent.transcript.subagents.agent-aa992c9e47a3b0ad9", parent_of_recorded_agent())});
}

std::string member(const TranscriptEvent& event, std::string_view key) {
  return string_value(find_member(event.event.json, key)).value_or("");
}

TEST(ClaudeTranscript, SaysWhatTheSessionWas) {
  ImportedSession session = read_claude_transcript({file("claude-01-tools.transcript")});
  EXPECT_EQ(session.session_id, "c9e4f4c2-5c35-43b3-a57e-7121afd12f13");
  EXPECT_EQ(session.prompt, "Fix the add function and check it works");
  EXPECT_EQ(session.cwd, "/workspace");
  EXPECT_EQ(session.model, "claude-opus-5-5");
  EXPECT_EQ(session.state, State::completed);
  ASSERT_FALSE(session.events.empty());
  EXPECT_EQ(session.events.front().event.type, EventType::session_start);
  EXPECT_EQ(find_member(session_end(session).json, "type"), R"("status")");
}

TEST(ClaudeTranscript, SubAgentsWorkInsideTheirCall) {
  ImportedSession session = with_subagent();
  std::string parent = parent_of_recorded_agent();
  ASSERT_FALSE(parent.empty());
  std::size_t call = 0, result = 0, inside = 0;
  for (std::size_t i = 0; i < session.events.size(); ++i) {
    const TranscriptEvent& event = session.events[i];
    if (member(event, "eventID") == parent + "/call") call = i;
    if (member(event, "eventID") == parent + "/result") result = i;
    if (member(event, "parentCallID") != parent) continue;
    ++inside;
    EXPECT_GT(i, call);
    EXPECT_EQ(result, 0u) << "after the end of the call: " << event.event.json;
  }
  EXPECT_GT(result, call);
  EXPECT_EQ(inside, 7u);  // its task, two texts, two calls with their results
  EXPECT_EQ(session.prompt, "ORIGINAL-TASK: use a subagent to count Python files");
}

// The transcript says what the session cost; where it does not, messages count once each, those of sub-agents too.
TEST(ClaudeTranscript, TotalsAreCountedOnce) {
  ImportedSession session = with_subagent();
  std::size_t usage = newest_usage(session);
  ASSERT_LT(usage, session.events.size());
  std::string_view data = find_member(session.events[usage].event.json, "data");
  EXPECT_DOUBLE_EQ(number_value(find_member(data, "costUSD")).value_or(0), 0.020932000000000003);
  EXPECT_EQ(find_member(data, "outputTokens"), "113");

  std::vector<TranscriptFile> cut{
      file("claude-18-subagent.transcript"),
      file("claude-18-subagent.transcript.subagents.agent-aa992c9e47a3b0ad9", parent_of_recorded_agent())};
  std::erase_if(cut[0].lines, [](const std::string& line) { return line.find("cost-state") != std::string::npos; });
  ImportedSession killed = read_claude_transcript(cut);
  usage = newest_usage(killed);
  ASSERT_LT(usage, killed.events.size());
  data = find_member(killed.events[usage].event.json, "data");
  EXPECT_EQ(find_member(data, "outputTokens"), "113");
  EXPECT_EQ(find_member(data, "costUSD"), "");
}

TEST(ClaudeTranscript, HowItEnded) {
  EXPECT_EQ(read_claude_transcript({file("claude-11-sigint-in-tool.transcript")}).state, State::cancelled);
  EXPECT_EQ(read_claude_transcript({file("claude-37-compact.transcript")}).state, State::completed);
  TranscriptFile cut = file("claude-01-tools.transcript");
  while (cut.lines.back().find("\"tool_use\",\"id\"") == std::string::npos) cut.lines.pop_back();
  EXPECT_EQ(read_claude_transcript({cut}).state, State::failed);
}

TEST(ClaudeTranscript, EveryEventHasAnIdOfItsOwnAndKeepsItWhenTheFileGrows) {
  for (const char* name :
       {"claude-01-tools.transcript", "claude-11-sigint-in-tool.transcript", "claude-34-resume-fork.transcript",
        "claude-37-compact.transcript", "claude-bidi-01-steering.transcript"}) {
    SCOPED_TRACE(name);
    TranscriptFile whole = file(name);
    std::set<std::string> ids;
    for (const TranscriptEvent& event : read_claude_transcript({whole}).events) {
      std::string id = member(event, "eventID");
      EXPECT_FALSE(id.empty()) << event.event.json;
      EXPECT_TRUE(ids.insert(id).second) << id;
    }
    TranscriptFile part = whole;
    part.lines.resize(part.lines.size() * 2 / 3);
    for (const TranscriptEvent& event : read_claude_transcript({part}).events) {
      if (event.event.type == EventType::usage) continue;  // of a session that is not over: a running total
      EXPECT_TRUE(ids.contains(member(event, "eventID"))) << event.event.json;
    }
  }
}

TEST(ClaudeTranscript, NothingAndNonsense) {
  EXPECT_TRUE(read_claude_transcript({}).events.empty());
  EXPECT_TRUE(read_claude_transcript({{"", {}}}).events.empty());
  ImportedSession damaged = read_claude_transcript({{"", {"{\"type\":\"user\",", "", "not json"}}});
  EXPECT_EQ(damaged.events.size(), 3u);  // its start and two log events
}

}  // namespace
}  // namespace shepherd
