#include "driver/claude/hook.h"

#include <gtest/gtest.h>

#include <set>

#include "driver/claude/test_recording.h"
#include "json/scan.h"
#include "model/condense.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::vector<std::string> calls() {
  return lines_of(read_file(golden_folder("claude") / "hooks" / "claude-29-hooks.jsonl"));
}

// Each call a second after the one before: hooks have no time of their own.
std::vector<ClaudeHook> read_all() {
  std::vector<ClaudeHook> hooks;
  for (const std::string& call : calls()) {
    auto hook = read_claude_hook(call, kRecordingStart + static_cast<std::int64_t>(hooks.size()) * 1'000);
    EXPECT_TRUE(hook) << call;
    if (hook) hooks.push_back(*std::move(hook));
  }
  return hooks;
}

std::string as_lines(const std::vector<ClaudeHook>& hooks) {
  std::string lines;
  for (const ClaudeHook& hook : hooks) {
    lines += "# " + hook.name + (hook.opens ? " opens" : "") + (hook.ends ? " ends" : "") +
             (hook.works ? " works" : "") + "\n";
    for (const DriverEvent& event : hook.events) lines += event.json + "\n";
    for (const TextDelta& delta : hook.deltas) lines += "delta " + delta.block + ": " + delta.text + "\n";
  }
  return lines;
}

std::set<std::string> tool_event_ids(const std::vector<DriverEvent>& events) {
  std::set<std::string> ids;
  for (const DriverEvent& event : events) {
    if (event.type != EventType::tool_call && event.type != EventType::tool_result) continue;
    ids.insert(string_value(find_member(event.json, "eventID")).value_or(""));
  }
  return ids;
}

TEST(ClaudeHook, ARecordedSessionBecomesTheExpectedEvents) {
  std::string found = as_lines(read_all());
  auto path = golden_folder("claude") / "hooks" / "claude-29-hooks.expected";
  const char* updating = std::getenv("SHEPHERD_UPDATE_GOLDEN");
  if (updating != nullptr && std::string_view(updating) == "1") {
    std::ofstream(path, std::ios::binary) << found;
    return;
  }
  EXPECT_EQ(found, read_file(path)) << "see tests/golden/claude/README.md for how to update";
}

// The same run was also streamed: a step must have the same id whichever way it is reported.
TEST(ClaudeHook, StepsHaveTheIdsOfTheStream) {
  std::vector<DriverEvent> hooked;
  for (ClaudeHook& hook : read_all()) {
    for (DriverEvent& event : hook.events) hooked.push_back(std::move(event));
  }
  ClaudeRecording streamed = claude_recording("claude-29-hooks.jsonl");
  std::set<std::string> ids = tool_event_ids(hooked);
  std::set<std::string> known = tool_event_ids(translate(streamed, streamed.out).out.take_events());
  EXPECT_EQ(ids.size(), 9u);
  for (const std::string& id : ids) EXPECT_TRUE(known.contains(id)) << id;
}

TEST(ClaudeHook, EventsPassTheDoorUnchangedAndHaveIds) {
  CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  intake.now_ms = kRecordingStart;
  std::set<std::string> ids;
  for (const ClaudeHook& hook : read_all()) {
    std::vector<DriverEvent> events = hook.events;
    if (events.empty()) continue;
    events.push_back(claude_goes_on(hook));
    for (const DriverEvent& event : events) {
      std::string posted;
      append_posted(posted, event, 0);
      auto batch = decode_events(posted, Framing::json, intake);
      ASSERT_TRUE(batch) << batch.error().message << "\n" << posted.substr(0, 500);
      const Draft& draft = batch->drafts.front();
      EXPECT_FALSE(draft.event_id.empty()) << event.json;
      EXPECT_TRUE(ids.insert(draft.event_id).second) << draft.event_id;
      std::string expected = event.json.substr(0, event.json.find(",\"eventID\":")) + "}";
      EXPECT_EQ("{" + std::string(batch->body(draft)) + "}", expected);
    }
  }
}

TEST(ClaudeHook, ItsOwnTimeAndParentAreTaken) {
  auto hook = read_claude_hook(
      R"({"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},)"
      R"("tool_use_id":"t1","timestamp":"2026-02-18T14:00:00.123Z","parent_tool_use_id":"p1"})",
      kRecordingStart);
  ASSERT_TRUE(hook);
  ASSERT_EQ(hook->events.size(), 1u);
  EXPECT_EQ(find_member(hook->events[0].json, "timestamp"), R"("2026-02-18T14:00:00.123Z")");
  EXPECT_EQ(find_member(hook->events[0].json, "parentCallID"), R"("p1")");
}

// As the translation of a stream shows them.
TEST(ClaudeHook, SummariesAreWithoutTheAgentsOwnMarkup) {
  auto failed = read_claude_hook(
      R"({"session_id":"s1","hook_event_name":"PostToolUseFailure","tool_name":"Read","tool_use_id":"t1",)"
      R"("tool_input":{},"error":"<tool_use_error>File does not exist.</tool_use_error>"})",
      kRecordingStart);
  ASSERT_TRUE(failed);
  ASSERT_EQ(failed->events.size(), 1u);
  EXPECT_EQ(text_member(failed->events[0].json, "summary"), "File does not exist.");
  auto ended = read_claude_hook(R"({"session_id":"s1","hook_event_name":"Stop","last_assistant_message":)"
                                R"("<system-reminder>Two files.</system-reminder>"})",
                                kRecordingStart);
  ASSERT_TRUE(ended);
  ASSERT_EQ(ended->events.size(), 2u);
  EXPECT_EQ(text_member(ended->events[0].json, "summary"), "Two files.");
}

TEST(ClaudeHook, UnknownHooksAreKept) {
  auto hook = read_claude_hook(R"({"session_id":"s1","hook_event_name":"MoonPhase","x":1})", kRecordingStart);
  ASSERT_TRUE(hook);
  ASSERT_EQ(hook->events.size(), 1u);
  EXPECT_EQ(hook->events[0].type, EventType::log);
  EXPECT_EQ(find_member(find_member(hook->events[0].detail, "raw"), "x"), "1");
}

TEST(ClaudeHook, WhatIsNoHookCallIsRefused) {
  for (const char* bad : {"", "[]", "{}", R"({"session_id":"s1"})", R"({"hook_event_name":"Stop"})",
                          R"({"session_id":"../x","hook_event_name":"Stop"})", "{\"session_id\":\"s1\",\"hook_event_",
                          R"({"session_id":7,"hook_event_name":"Stop"})"}) {
    auto hook = read_claude_hook(bad, kRecordingStart);
    ASSERT_FALSE(hook) << bad;
    EXPECT_EQ(hook.error().reason, "bad_hook");
  }
}

}  // namespace
}  // namespace shepherd
