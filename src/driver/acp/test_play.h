// Plays a recording to the driver: what the agent said comes from the recording; what was said to it then becomes the
// command or the answer that says it now.
// Threads: caller.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/acp/acp_agent.h"
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
    for (const auto& line : recording_.in) {
      if (text_member(line, "method") != "session/prompt") continue;
      auto blocks = array_elements(find_member(find_member(line, "params"), "prompt"));
      launch.prompt = text_member(blocks->front(), "text");
      break;
    }
  }

  void start() {
    auto plan = driver.launch(launch);
    ASSERT_TRUE(plan.has_value());
    said = plan->input;
  }

  // Plays the next line of either direction; false: there is none.
  bool next() {
    if (at_ == recording_.lines.size()) return false;
    const RecordedLine& line = recording_.lines[at_++];
    now = kRecordingStart + line.at_ms;
    if (line.from_agent) {
      from_agent(line.text);
    } else {
      to_agent(line.text);
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
      if (line.from_agent && line.text.find(mark) != std::string::npos) return;
    }
    ADD_FAILURE() << "the recording has no more " << mark;
  }
  // The same, but nothing of what was said to the agent then is said now.
  void agent_until(std::string_view mark) {
    while (at_ < recording_.lines.size()) {
      const RecordedLine& line = recording_.lines[at_++];
      now = kRecordingStart + line.at_ms;
      if (!line.from_agent) continue;
      from_agent(line.text);
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
    return out.written().substr(before);
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
  void from_agent(const std::string& line) {
    // Answers to what only the recorder asked.
    if (find_member(line, "method").empty() && foreign_.contains(std::string(find_member(line, "id")))) return;
    if (text_member(line, "method") == "session/request_permission") options_ = find_member(line, "params");
    driver.record(line, now, out);
  }

  void to_agent(const std::string& line) {
    std::string method = text_member(line, "method");
    std::string id = "said-" + std::to_string(++commands_);
    if (method == "session/prompt") {
      auto blocks = array_elements(find_member(find_member(line, "params"), "prompt"));
      if (text_member(find_member(line, "params"), "sessionId") == "unknown-session") {
        foreign_.insert(std::string(find_member(line, "id")));
      } else if (driver.hints().turns > 0) {
        Command command;
        command.id = id;
        command.kind = CommandKind::resume;
        command.guidance = text_member(blocks->front(), "text");
        driver.command(command, now, out);
      }
    } else if (method == "session/cancel") {
      driver.command(acp_command(R"({"kind":"interrupt","id":")" + id + "\"}"), now, out);
    } else if (method.starts_with("no/")) {
      foreign_.insert(std::string(find_member(line, "id")));
    } else if (method.empty() && !find_member(find_member(line, "result"), "outcome").empty()) {
      answer(id, text_member(find_member(find_member(line, "result"), "outcome"), "optionId"));
    } else if (method.empty()) {
      host_answer(find_member(line, "result"));
    }
  }

  // What the machine said then, to the newest call.
  void host_answer(std::string_view result) {
    HostCall call = out.of<HostCall>().back();
    HostAnswer answer{call.id, HostDone{}};
    if (std::holds_alternative<ReadFile>(call.request)) answer.result = FileText{text_member(result, "content")};
    if (std::holds_alternative<StartTerminal>(call.request)) {
      answer.result = TerminalStarted{text_member(result, "terminalId")};
    }
    bool looks = std::holds_alternative<LookAtTerminal>(call.request);
    if (looks || std::holds_alternative<AwaitTerminal>(call.request)) {
      TerminalState state;
      state.output = text_member(result, "output");
      auto code = count_value(find_member(looks ? find_member(result, "exitStatus") : result, "exitCode"));
      state.running = !code;
      if (code) state.code = static_cast<int>(*code);
      answer.result = state;
    }
    driver.answer(answer, now, out);
  }

  void answer(const std::string& id, const std::string& option) {
    std::string kind;
    for (auto each : array_elements(find_member(options_, "options")).value_or(std::vector<std::string_view>())) {
      if (text_member(each, "optionId") == option) kind = text_member(each, "kind");
    }
    if (kind.empty()) return;  // cancelled: the interrupt did it
    Command command;
    command.id = id;
    command.kind = kind.starts_with("allow") ? CommandKind::approve : CommandKind::deny;
    command.approval_id = last_approval();
    if (kind == "allow_always") command.remember = "always";
    driver.command(command, now, out);
  }

  Recording recording_;
  std::size_t at_ = 0;
  int commands_ = 0;
  std::string options_;
  std::set<std::string> foreign_;
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
