#include "driver/registry/recording_player.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "driver/registry/agent_form.h"
#include "driver/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

struct Played {
  Actions out;
  Verdict verdict;
};

// The file as `shepherd translate` reads it, at one moment of now.
Played played(std::string_view agent, const std::string& bytes) {
  Played result;
  Launch launch;
  launch.id = "translate";
  launch.prompt = "recorded";
  launch.command = {"recorded"};
  auto player = RecordingPlayer::open(agent, launch);
  EXPECT_TRUE(player) << agent;
  if (!player) return result;
  for (const auto& line : lines_of(bytes)) {
    auto taken = player->line(line, kRecordingStart, result.out);
    EXPECT_TRUE(taken) << (taken ? "" : taken.error().message);
  }
  auto verdict = player->finish(kRecordingStart, result.out);
  EXPECT_TRUE(verdict);
  if (verdict) result.verdict = *verdict;
  return result;
}

std::string recorded_file(std::string_view folder, std::string_view name) {
  return read_file(golden_folder(folder) / "recordings" / (std::string(name) + ".jsonl"));
}

// What people see of a step. How the program ended is no part of what it printed.
std::vector<std::string> steps_of(const std::vector<std::string>& events) {
  std::vector<std::string> steps;
  for (const auto& event : events) {
    std::string type = text_member(event, "type");
    if (type.empty() || type == "log" || type == "error") continue;
    steps.push_back(type + ": " + text_member(event, "summary"));
  }
  return steps;
}

std::vector<std::string> steps_of(const Played& played) {
  std::vector<std::string> events;
  for (const DriverEvent& event : played.out.events()) events.push_back(event.json);
  return steps_of(events);
}

std::vector<std::string> expected_steps(std::string_view folder, std::string_view name) {
  return steps_of(lines_of(read_file(golden_folder(folder) / "expected" / (std::string(name) + ".ndjson"))));
}

// Recordings of both directions and plain lines, by the name of the agent alone.
TEST(RecordingPlayer, FindsTheFormOfWhatAnAgentPrinted) {
  struct Case {
    std::string_view agent, folder, name;
  };
  for (const Case& each : {
           Case{"acp", "acp", "acp-claude-01-permissions"},
           Case{"claude", "acp", "acp-claude-02-cancel"},
           Case{"gemini", "acp", "acp-gemini-01-permissions"},
           Case{"gemini", "acp", "acp-gemini-02-cancel"},
           Case{"opencode", "acp", "acp-opencode-01-permissions"},
           Case{"opencode", "acp", "acp-opencode-02-cancel"},
           Case{"goose", "acp", "acp-goose-01-permissions"},
           Case{"gemini", "gemini", "gemini-01-tools"},
           Case{"gemini", "gemini", "gemini-02-denied"},
           Case{"opencode", "opencode", "opencode-01-run-tools"},
           Case{"opencode", "opencode", "opencode-06-run-thinking-subagent"},
           Case{"opencode", "opencode", "opencode-serve-01-steer-abort"},
           Case{"opencode", "opencode", "opencode-serve-02-permissions"},
           Case{"codex", "codex", "codex-01-exec-tools"},
           Case{"codex", "codex", "codex-app-02-approvals"},
           Case{"codex", "codex", "codex-01-exec-tools.rollout"},
       }) {
    SCOPED_TRACE(std::string(each.agent) + " " + std::string(each.name));
    std::vector<std::string> steps = steps_of(played(each.agent, recorded_file(each.folder, each.name)));
    EXPECT_GE(steps.size(), 3U);
    EXPECT_EQ(steps, expected_steps(each.folder, each.name));
  }
}

// What was said to the agent ends its turns, and what an operator decided is in the log.
TEST(RecordingPlayer, SaysWhatWasSaidToTheAgent) {
  for (std::string_view name : {"acp-claude-02-cancel", "acp-gemini-02-cancel", "acp-opencode-02-cancel"}) {
    SCOPED_TRACE(name);
    Played all = played("acp", recorded_file("acp", name));
    std::size_t turns = 0, to_nothing = 0;
    for (const DriverEvent& event : all.out.events()) {
      if (event.type == EventType::usage && text_member(event.json, "summary").starts_with("Turn ")) ++turns;
      if (event.json.find("an answer to nothing") != std::string::npos) ++to_nothing;
    }
    EXPECT_EQ(turns, 3U);
    EXPECT_EQ(to_nothing, 0U);
  }
  std::string decided;
  Played asking = played("acp", recorded_file("acp", "acp-gemini-01-permissions"));
  for (const DriverEvent& event : asking.out.events()) {
    std::string state = text_member(find_member(event.json, "data"), "state");
    if (event.type == EventType::approval && state != "pending") decided += state + " ";
  }
  EXPECT_EQ(decided, "approved denied approved approved ");
}

TEST(RecordingPlayer, EventsHaveTheTimesOfTheRecording) {
  Played all = played("gemini", recorded_file("acp", "acp-gemini-02-cancel"));
  std::int64_t last = 0;
  for (const DriverEvent& event : all.out.events()) {
    auto time = parse_timestamp(text_member(event.json, "timestamp"));
    ASSERT_TRUE(time) << event.json.substr(0, 200);
    last = std::max(last, *time);
  }
  EXPECT_GE(last - kRecordingStart, 18'000) << "the recorded run took 19 seconds";
  EXPECT_LE(last - kRecordingStart, 20'000);
}

// Without what was said to it, an agent's answers still end its turns.
TEST(RecordingPlayer, PlainLinesOfTheProtocolHaveTheirTurns) {
  for (const auto& recording : read_recordings("acp")) {
    SCOPED_TRACE(recording.name);
    Played all = played("acp", recording.out);
    auto turns = std::ranges::count_if(all.out.events(), [](const DriverEvent& event) {
      return event.type == EventType::usage && text_member(event.json, "summary").starts_with("Turn ");
    });
    EXPECT_EQ(turns, recording.name.find("cancel") == std::string::npos ? 1 : 3);
  }
}

TEST(RecordingPlayer, AnEmptyFileIsNoFailure) {
  for (std::string_view agent : {"claude", "codex", "gemini", "opencode", "acp"}) {
    EXPECT_TRUE(steps_of(played(agent, "")).empty()) << agent;
  }
}

TEST(RecordingPlayer, AnUnknownAgentIsToldWhichThereAre) {
  auto player = RecordingPlayer::open("nobody", {});
  ASSERT_FALSE(player);
  EXPECT_EQ(player.error().reason, "unknown_agent");
  for (std::string_view name : {"nobody", "claude", "gemini", "goose", "text"}) {
    EXPECT_NE(player.error().message.find(name), std::string::npos) << player.error().message;
  }
}

TEST(AgentForm, WordsForPeopleDoNotDecide) {
  auto gemini = drivers_for("gemini");
  EXPECT_EQ(driver_of_record(gemini, "Loaded cached credentials."), std::nullopt);
  EXPECT_EQ(driver_of_record(gemini, R"({"type":"init"})"), "gemini-stream");
  EXPECT_EQ(driver_of_record(gemini, R"({"jsonrpc":"2.0","id":0})"), "acp");
  EXPECT_EQ(driver_of_record(drivers_for("text"), "anything"), "text");
}

}  // namespace
}  // namespace shepherd
