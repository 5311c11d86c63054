// Plays a recording to the driver, line by line (driver/acp/replay.h), with commands of the test in between.
// Threads: caller.
#pragma once

#include <string>

#include "driver/acp/acp_agent.h"
#include "driver/acp/replay.h"
#include "driver/test_recording.h"
#include "json/scan.h"

namespace shepherd {

inline Command acp_command(std::string_view json) {
  auto command = decode_command(json);
  EXPECT_TRUE(command) << json;
  return command.value_or(Command{});
}

class AcpPlay {
 public:
  explicit AcpPlay(Recording recording, AgentMode mode = AgentMode::interactive) : recording_(std::move(recording)) {
    launch.id = "";
    launch.command = {"agent", "acp"};
    launch.directory = "/workspace";
    launch.mode = mode;
    launch.prompt = "Do it";
    for (const RecordedLine& line : recording_.lines) {
      if (replay_.prepare(line, launch)) break;
    }
  }

  void start() {
    auto plan = driver.launch(launch);
    ASSERT_TRUE(plan.has_value());
    said = plan->input;
    replay_.wrote(said);
  }

  // Plays the next line of either direction; false: there is none.
  bool next() {
    if (at_ == recording_.lines.size()) return false;
    const RecordedLine& line = recording_.lines[at_++];
    now = kRecordingStart + line.at_ms;
    if (line.from_agent()) {
      replay_.from_agent(line.text, now, out);
    } else {
      replay_.to_agent(line.text, now, out);
    }
    return true;
  }
  void to_end() {
    while (next()) {
    }
  }
  // Up to and including the next line of the agent that contains `mark`.
  void until(std::string_view mark) {
    while (at_ < recording_.lines.size()) {
      const RecordedLine& line = recording_.lines[at_];
      next();
      if (line.from_agent() && line.text.find(mark) != std::string::npos) return;
    }
    ADD_FAILURE() << "the recording has no more " << mark;
  }
  // The same, but nothing of what was said to the agent then is said now.
  void agent_until(std::string_view mark) {
    while (at_ < recording_.lines.size()) {
      const RecordedLine& line = recording_.lines[at_++];
      now = kRecordingStart + line.at_ms;
      if (!line.from_agent()) continue;
      replay_.from_agent(line.text, now, out);
      if (line.text.find(mark) != std::string::npos) return;
    }
    ADD_FAILURE() << "the recording has no more " << mark;
  }

  Verdict finish() {
    for (const auto& line : lines_of(recording_.errors)) driver.stderr_line(line, now, out);
    return driver.finish(recording_.exit, now, out);
  }

  // Says a command; what it writes to the agent.
  std::string say(std::string_view json) {
    std::size_t before = out.written().size();
    driver.command(acp_command(json), now, out);
    std::string bytes = out.written().substr(before);
    replay_.wrote(bytes);
    return bytes;
  }
  std::string settled(std::string_view id) const {
    std::string states;
    for (const auto& update : out.commands()) {
      if (update.id == id) states.append(states.empty() ? "" : " ").append(name(update.state));
    }
    return states;
  }
  std::string why(std::string_view id) const {
    std::string reason;
    for (const auto& update : out.commands()) {
      if (update.id == id) reason = update.reason;
    }
    return reason;
  }
  std::string last_approval() const {
    std::string id;
    for (const auto& event : out.events()) {
      if (event.type == EventType::approval) id = text_member(find_member(event.json, "data"), "approvalID");
    }
    return id;
  }
  const Recording& recording() const { return recording_; }

  AcpAgent driver;
  Launch launch;
  Actions out;
  std::string said;  // at the start
  std::int64_t now = kRecordingStart;

 private:
  Recording recording_;
  std::size_t at_ = 0;
  AcpReplay replay_{driver};
};

inline Translation acp_translate(const Recording& recording) {
  Translation result;
  AcpPlay play(recording);
  play.start();
  play.to_end();
  result.verdict = play.finish();
  result.out = std::move(play.out);
  result.hints = play.driver.hints();
  return result;
}

}  // namespace shepherd
