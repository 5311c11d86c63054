#include "driver/opencode/opencode_run.h"

#include "driver/limits.h"
#include "driver/opencode/settings.h"
#include "json/write.h"

namespace shepherd {

std::vector<std::string> OpenCodeRun::version_command(const std::string& program) const {
  return opencode_version_command(program);
}

std::vector<std::string> OpenCodeRun::state_paths(const Variable& variable) const {
  return opencode_state_paths(variable);
}

Result<LaunchPlan> OpenCodeRun::launch(const Launch& launch) {
  if (auto ok = check_opencode_launch(launch); !ok) return fail(ok.error());
  Result<std::string> configuration = opencode_configuration(launch);
  if (!configuration) return fail(configuration.error());
  hints_.turn = Hints::Turn::running;  // it says nothing while the model's API fails
  LaunchPlan plan;
  ProgramLaunch program;
  auto& argv = program.argv;
  argv = launch.words("opencode");
  argv.insert(argv.end(), {"run", "--format", "json", "--thinking"});
  if (!launch.model.empty()) argv.insert(argv.end(), {"--model", launch.model});
  if (!launch.resume_session.empty()) argv.insert(argv.end(), {"--session", launch.resume_session});
  // What is not forbidden is allowed; with a list of tools everything else is.
  if (launch.mode == AgentMode::autonomous) argv.emplace_back("--auto");
  auto remark = [&](std::string_view text) { plan.remark.append(plan.remark.empty() ? "" : " ").append(text); };
  if (launch.mode == AgentMode::interactive) {
    remark(
        "This agent cannot ask for approvals in this form: what needs one is refused. The agent \"opencode\" can ask.");
  }
  program.environment = opencode_environment(*configuration);
  plan.way = std::move(program);
  plan.input = opencode_prompt(launch);  // can be larger than an argument may be
  return plan;
}

Capabilities OpenCodeRun::capabilities() const {
  Capabilities can;
  can.commands = StandStill::commands();
  can.cost = true;
  can.resumes_sessions = true;
  return can;
}

AgentTraits OpenCodeRun::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.allowed_tools = Means::own;
  traits.mcp_servers = Means::own;
  traits.budget = Means::runner;
  traits.use = ToldUse::money;
  return traits;
}

void OpenCodeRun::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  ++hints_.records;
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    ++hints_.passed_over;
    return;
  }
  std::size_t before = out.shown();
  if (!events_.read(line, now_ms, opencode_looks_into, out)) return;
  if (auto time = count_of(events_.json().find("timestamp"))) events_.set_time(static_cast<std::int64_t>(*time));
  events_.set_session(events_.json().string("sessionID"));
  hints_.session_id = events_.session();
  dispatch(out);
  if (out.shown() == before) ++hints_.passed_over;
}

void OpenCodeRun::dispatch(Actions& out) {
  const JsonSlices& json = events_.json();
  std::string_view type = json.string("type");
  if (type == "step_start") {
    reason_.clear();
    refused_ = false;
    return begin(out);
  }
  if (type == "text") return words("text", out);
  if (type == "reasoning") return words("reasoning", out);
  if (type == "tool_use") {
    const JsonNode& part = json.find("part");
    tools_.part(events_, part, "", "", out);
    std::string_view error = json.string(json.find(part, "state"), "error");
    if (opencode_was_denied(error)) {
      refused_ = true;
      last_error_ = event_text(error);
    }
    return;
  }
  if (type == "step_finish") return step_finish(out);
  if (type == "error") return agent_error(out);
  events_.unknown(out, type);
}

// The first step says that there is a session.
void OpenCodeRun::begin(Actions& out) {
  if (std::exchange(begun_, true)) return;
  usage_told_ms_ = events_.now_ms();
  EventParts parts = events_.step(EventType::session_start);
  parts.summary = "Session started";
  parts.data = "{}";
  events_.emit(out, parts);
}

void OpenCodeRun::words(std::string_view kind, Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& part = json.find("part");
  std::string_view text = json.string(part, "text");
  if (kind == "text") last_text_ = event_text(text);
  auto start = count_of(json.find(json.find(part, "time"), "start"));
  auto end = count_of(json.find(json.find(part, "time"), "end"));
  std::optional<std::int64_t> took;
  if (start && end && *end >= *start) took = static_cast<std::int64_t>(*end - *start);
  events_.said(out, {kind, text, json.string(part, "id"), "", took});
}

void OpenCodeRun::step_finish(Actions& out) {
  const JsonSlices& json = events_.json();
  const JsonNode& part = json.find("part");
  reason_ = json.string(part, "reason").substr(0, kMaxAgentIdBytes);
  usage_.step(json, part);
  hints_.cost_usd = usage_.cost_usd();
  if (reason_ == "tool-calls") {
    if (events_.now_ms() - usage_told_ms_ < kUsagePause.count()) return;
    usage_told_ms_ = events_.now_ms();
    return usage_.tell(events_, hints_.turns, tools_.calls(), "A step ended" + usage_.shown_cost(), R"("partial":true)",
                       out);
  }
  ++hints_.turns;
  std::string more = "\"outcome\":";
  append_json_string(more, reason_);
  usage_.tell(events_, hints_.turns, tools_.calls(), "Turn ended" + usage_.shown_cost(), more, out);
}

// {"error":{"name","data":{"message"}}}
void OpenCodeRun::agent_error(Actions& out) {
  const JsonSlices& json = events_.json();
  OpenCodeError error = opencode_error(json, json.find("error"));
  last_error_ = event_text(error.message);
  events_.error(out, error.code, error.message, false, error.members);
}

void OpenCodeRun::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  errors_.line(line, now_ms, events_.session(), out);
}

void OpenCodeRun::tick(std::int64_t now_ms, Actions& out) {
  errors_.tick(now_ms, events_.session(), out);
}

void OpenCodeRun::command(const Command& command, std::int64_t now_ms, Actions& out) {
  still_.command(command, now_ms, events_.session(), out);
}

Verdict OpenCodeRun::finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) {
  events_.without_record(now_ms);
  errors_.finish(events_.session(), out);
  Verdict judged = verdict(exit);
  hints_.turn = Hints::Turn::idle;
  if (usage_.has_untold()) {
    usage_.tell(events_, hints_.turns, tools_.calls(), "Used by a turn that did not end by itself",
                R"("outcome":"no_result")", out);
  }
  if (judged.state == State::cancelled) events_.status(out, "Interrupted", "interrupted");
  if (judged.state == State::failed && !exit.by_runner && !still_.stopping()) {
    events_.error(out, refused_ ? "permission_refused" : "agent_failed", judged.message, true);
  }
  return judged;
}

// It is through when a step has ended that wants nothing more; it exits with 0 also when a refused call ended the run.
Verdict OpenCodeRun::verdict(const ExitFacts& exit) const {
  constexpr int kSigint = 2;
  Verdict verdict;
  bool through = !reason_.empty() && reason_ != "tool-calls";
  if (through && exit.good()) {
    verdict.message = last_text_;
    return verdict;
  }
  if (exit.signal == kSigint) {
    verdict.state = State::cancelled;
    verdict.message = "interrupted";
    return verdict;
  }
  verdict.state = State::failed;
  bool said = refused_ || exit.code != 0;
  verdict.message =
      said && exit.signal == 0 && !last_error_.empty() ? last_error_ : why_it_ended(exit, errors_, begun_ && !through);
  return verdict;
}

Hints OpenCodeRun::hints() const {
  Hints hints = hints_;
  hints.tick_at_ms = errors_.due_at_ms();
  return hints;
}

}  // namespace shepherd
