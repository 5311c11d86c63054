#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "demo/agent.h"

namespace scripted {
namespace {

constexpr std::string_view kStopped =
    "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait "
    "for the user to tell you how to proceed.";

json::object decision(std::string_view word, std::string_view source) {
  return {{"permission_decision", {{"decision", word}, {"source", source}}}};
}

// "{input}" in a scripted result stands for the input that really ran, because the operator may have changed it.
std::string filled_in(std::string result, const json::object& input) {
  constexpr std::string_view kMark = "{input}";
  if (std::size_t at = result.find(kMark); at != std::string::npos) {
    result.replace(at, kMark.size(), json::serialize(input));
  }
  return result;
}

}  // namespace

void Agent::call_tool(const json::object& step) {
  std::string tool = text(step, "tool");
  json::object input;
  if (const json::value* given = step.if_contains("input")) input = given->as_object();
  std::string call = voice_.tool_use(tool, input);
  in_tool_ = true;
  Permission said{.allowed = true, .input = input};
  if (truth(step, "permission")) said = permission(tool, input, call);
  if (interrupted_) return interrupted_call(call, false);
  if (!said.allowed) {
    refused(tool, input, call, said);
  } else {
    std::string result = filled_in(text(step, "result", "ok"), said.input);
    bool failed = truth(step, "error");
    pump(monotonic_ns() + static_cast<std::int64_t>(number(step, "ms") * 1e6));
    if (truth(step, "run") && !interrupted_) {
      Command ran = run_command(text(said.input, "command"));
      failed = ran.status != 0;
      result = failed ? "Exit code " + std::to_string(ran.status) + "\n" + ran.output : ran.output;
    }
    if (interrupted_) return interrupted_call(call, true);
    json::object use{{"stdout", result}, {"stderr", ""}, {"interrupted", false}, {"isImage", false}};
    voice_.tool_result(call, json::value(result), failed,
                       failed ? json::value("Error: " + result) : json::value(std::move(use)),
                       decision("accept", said.asked ? "user_temporary" : "config"));
  }
  in_tool_ = false;
  pump(0);
  if (voice_.parent.empty()) take_up_messages();
}

void Agent::interrupted_call(std::string_view call, bool ran) {
  json::object meta;
  if (!ran) meta["non_execution_kind"] = "user-rejected";
  voice_.tool_result(call, json::value(kStopped), true, json::value("User rejected tool use"), std::move(meta));
}

void Agent::refused(std::string_view tool, const json::object& input, std::string_view call, const Permission& said) {
  if (!said.asked) {
    voice_.system("permission_denied", {{"tool_name", tool}, {"tool_use_id", call}, {"message", said.message}});
  }
  voice_.denials.push_back(json::object{{"tool_name", tool}, {"tool_use_id", call}, {"tool_input", input}});
  json::object meta = decision("reject", said.asked ? "user_reject" : "config");
  meta["non_execution_kind"] = "permission-rule";
  voice_.tool_result(call, json::value(said.message), true, json::value("Error: " + said.message), std::move(meta));
}

Agent::Permission Agent::permission(std::string_view tool, const json::object& input, std::string_view call) {
  if (allowed_beforehand(tool, input)) return {.allowed = true, .input = input};
  if (!options_.asks) {
    return {.allowed = false, .input = input, .message = "This command requires approval"};
  }
  std::string id = voice_.ask(tool, input, call);
  asked_[id] = std::nullopt;
  if (session_states_) voice_.session_state("requires_action");
  while (!interrupted_ && asked_.contains(id) && !asked_[id]) pump(Input::kForever);
  if (interrupted_) return {.allowed = false, .asked = true};
  json::object answer = std::move(*asked_[id]);
  asked_.erase(id);
  if (session_states_) voice_.session_state("running");
  if (text(answer, "behavior") != "allow") {
    if (truth(answer, "interrupt")) interrupted_ = true;
    return {.allowed = false, .input = input, .message = text(answer, "message", "denied"), .asked = true};
  }
  remember(answer);
  const json::value* changed = answer.if_contains("updatedInput");
  return {.allowed = true, .input = changed != nullptr ? changed->as_object() : input, .asked = true};
}

bool Agent::allowed_beforehand(std::string_view tool, const json::object& input) const {
  if (tool == "AskUserQuestion" || tool == "ExitPlanMode") return false;
  bool edits = tool == "Write" || tool == "Edit";
  if (edits && options_.permission_mode == "acceptEdits") return true;
  auto matches = [&](std::string_view rule) {
    return rule == tool || rule == std::string(tool) + "(" + text(input, "command") + ")";
  };
  if (std::ranges::any_of(options_.allowed_tools, matches)) return true;
  return std::ranges::any_of(rules_, [&](const json::object& rule) {
    if (text(rule, "toolName") != tool) return false;
    return !rule.contains("ruleContent") || text(rule, "ruleContent") == text(input, "command");
  });
}

void Agent::remember(const json::object& response) {
  const json::value* updates = response.if_contains("updatedPermissions");
  if (updates == nullptr) return;
  for (const json::value& update : updates->as_array()) {
    const json::object& each = update.as_object();
    if (text(each, "type") == "setMode") options_.permission_mode = text(each, "mode");
    if (text(each, "type") != "addRules") continue;
    for (const json::value& rule : each.at("rules").as_array()) rules_.push_back(rule.as_object());
  }
}

void Agent::ask_question(const json::object& step) {
  json::array questions;
  const json::value& asked = step.at("ask");
  if (asked.is_array()) {
    questions = asked.as_array();
  } else {
    json::array options;
    for (std::string_view label : {"Yes", "No"}) options.push_back(json::object{{"label", label}, {"description", ""}});
    questions.push_back(json::object{{"question", asked.as_string()},
                                     {"header", "Question"},
                                     {"multiSelect", false},
                                     {"options", std::move(options)}});
  }
  json::object input{{"questions", std::move(questions)}};
  std::string call = voice_.tool_use("AskUserQuestion", input);
  in_tool_ = true;
  Permission said = permission("AskUserQuestion", input, call);
  if (interrupted_) return interrupted_call(call, false);
  in_tool_ = false;
  if (!said.allowed) return refused("AskUserQuestion", input, call, said);
  std::string answers;
  if (const json::value* given = said.input.if_contains("answers")) {
    for (const auto& [question, answer] : given->as_object()) {
      answers.append("\"").append(question).append("\"=").append(json::serialize(answer)).append(". ");
    }
  }
  voice_.tool_result(call, json::value("Your questions have been answered: " + answers), false, json::value(said.input),
                     decision("accept", "user_temporary"));
  take_up_messages();
}

void Agent::sub_agent(const json::object& step) {
  std::string description = text(step, "agent");
  std::string call = voice_.tool_use(
      "Agent", {{"description", description}, {"prompt", description}, {"subagent_type", "general-purpose"}});
  std::string id = new_id("a"), run = new_id("r");
  voice_.system("task_started", {{"task_id", id},
                                 {"run_id", run},
                                 {"tool_use_id", call},
                                 {"description", description},
                                 {"is_backgrounded", false},
                                 {"task_type", "local_agent"},
                                 {"subagent_type", "general-purpose"}});
  voice_.end_message("tool_use");
  voice_.parent = call;
  Steps steps = steps_of(step.if_contains("steps"));
  perform_all(steps);
  voice_.end_message("end_turn");
  voice_.parent.clear();
  voice_.system("task_notification", {{"task_id", id},
                                      {"run_id", run},
                                      {"tool_use_id", call},
                                      {"status", interrupted_ ? "stopped" : "completed"},
                                      {"output_file", ""},
                                      {"summary", description}});
  if (interrupted_) return interrupted_call(call, true);
  voice_.tool_result(call, json::array{json::object{{"type", "text"}, {"text", text(step, "result", "done")}}}, false,
                     json::object{{"status", "completed"}}, nullptr);
  take_up_messages();
}

// Starts a command that continues after its call has returned; its end starts a new turn.
void Agent::start_background(const json::object& step) {
  std::string description = text(step, "background");
  json::object input{{"command", description}, {"run_in_background", true}};
  Background task{new_id("b"), voice_.tool_use("Bash", input), description,
                  monotonic_ns() + static_cast<std::int64_t>(number(step, "ms") * 1e6)};
  voice_.system("task_started", {{"task_id", task.id},
                                 {"tool_use_id", task.call},
                                 {"description", description},
                                 {"is_backgrounded", true},
                                 {"task_type", "local_bash"}});
  voice_.system("background_tasks_changed",
                {{"tasks", json::array{json::object{{"task_id", task.id}, {"description", description}}}}});
  voice_.tool_result(task.call, json::value("Command running in background with ID: " + task.id), false,
                     json::object{{"backgroundTaskId", task.id}}, nullptr);
  background_ = {std::move(task)};
}

bool Agent::end_background() {
  if (background_.empty() || monotonic_ns() < background_.front().ends_ns) return false;
  Background task = std::move(background_.front());
  background_.clear();
  voice_.system("background_tasks_changed", {{"tasks", json::array{}}});
  voice_.system("task_notification", {{"task_id", task.id},
                                      {"tool_use_id", task.call},
                                      {"status", "completed"},
                                      {"output_file", ""},
                                      {"summary", task.description}});
  return true;
}

// Like the real program: a shell in its own session, killed when the turn is interrupted.
Agent::Command Agent::run_command(const std::string& command) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return {.output = "no pipe", .status = 127};
  running_ = fork();
  if (running_ == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setsid();
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(STDIN_FILENO);
    process_began();
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(pipe_ends[1]);
  Command ran;
  for (;;) {
    Input::Arrival arrival = input_.wait(Input::kForever, true, pipe_ends[0]);
    if (arrival.kind != Input::Arrival::Kind::readable) {
      handle(arrival);
      if (!interrupted_) continue;
      kill(-running_, SIGKILL);
      break;
    }
    std::array<char, 4096> piece;
    ssize_t got = read(pipe_ends[0], piece.data(), piece.size());
    if (got <= 0) break;
    ran.output.append(piece.data(), static_cast<std::size_t>(got));
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(running_, &status, 0);
  running_ = 0;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

}  // namespace scripted
