#include "driver/gemini/gemini_stream.h"

namespace shepherd {
namespace {

Result<void> check_launch(const Launch& launch) {
  auto not_an_option = [](std::string_view what, std::string_view value) -> Result<void> {
    if (!value.starts_with('-')) return {};
    return fail(ErrorCode::invalid_argument, "bad_launch",
                std::string(what) + " may not begin with a dash: the agent would read it as an option");
  };
  if (launch.prompt.empty() && launch.resume_session.empty()) {
    return fail(ErrorCode::invalid_argument, "no_prompt", "the task has no description: say what to do");
  }
  if (auto ok = not_an_option("a model", launch.model); !ok) return ok;
  if (auto ok = not_an_option("a session id", launch.resume_session); !ok) return ok;
  for (const auto& tool : launch.allowed_tools) {
    if (auto ok = not_an_option("a tool", tool); !ok) return ok;
  }
  return {};
}

// The program has no place of their own for rules and context.
std::string whole_prompt(const Launch& launch) {
  std::string text;
  if (!launch.rules.empty()) text.append("Rules:\n\n").append(launch.rules).append("\n\nTask:\n\n");
  text.append(launch.prompt.empty() ? "Continue." : launch.prompt);
  if (!launch.context.empty()) text.append("\n\nContext:\n\n").append(launch.context);
  return text;
}

void add_remark(std::string& remark, std::string_view text) {
  remark.append(remark.empty() ? "" : " ").append(text);
}

}  // namespace

std::vector<std::string> GeminiStream::version_command(const std::string& program) const {
  return {program.empty() ? "gemini" : program, "--version"};
}

std::vector<std::string> GeminiStream::state_paths(const Variable& variable) const {
  std::string home = variable("GEMINI_CLI_HOME");
  if (home.empty()) home = variable("HOME");
  if (home.empty()) return {};
  return {home + "/.gemini"};
}

Result<LaunchPlan> GeminiStream::launch(const Launch& launch) {
  if (auto ok = check_launch(launch); !ok) return fail(ok.error());
  deltas_ = launch.deltas;
  hints_.turn = Hints::Turn::running;  // it says nothing while the model's API fails
  LaunchPlan plan;
  ProgramLaunch program;
  auto& argv = program.argv;
  argv = launch.words("gemini");
  argv.insert(argv.end(), {"--output-format", "stream-json"});
  if (!launch.model.empty()) argv.insert(argv.end(), {"--model", launch.model});
  if (!launch.resume_session.empty()) argv.insert(argv.end(), {"--resume", launch.resume_session});
  for (const auto& tool : launch.allowed_tools) argv.insert(argv.end(), {"--allowed-tools", tool});
  if (launch.mode == AgentMode::autonomous && launch.allowed_tools.empty()) {
    argv.emplace_back("--yolo");
  } else if (launch.mode == AgentMode::interactive) {
    add_remark(plan.remark, launch.allowed_tools.empty()
                                ? "This agent cannot ask for approvals in this form, so it is only offered the tools "
                                  "that need none: it reads and cannot change anything."
                                : "This agent cannot ask for approvals in this form, so it is only offered the tools "
                                  "that need none and those of the task's list.");
  }
  if (!launch.mcp_servers_json.empty()) {
    add_remark(plan.remark, "It takes MCP servers from its settings only, so it does not get those of the task.");
  }
  // By default it starts itself a second time to have more memory, and in a new place to work it does nothing.
  program.environment = {{"GEMINI_CLI_NO_RELAUNCH", "true"}, {"GEMINI_CLI_TRUST_WORKSPACE", "true"}};
  plan.way = std::move(program);
  plan.input = whole_prompt(launch);  // can be larger than an argument may be
  return plan;
}

Capabilities GeminiStream::capabilities() const {
  Capabilities can;
  can.commands = StandStill::commands();
  can.deltas = deltas_;
  can.resumes_sessions = true;
  return can;
}

AgentTraits GeminiStream::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.allowed_tools = Means::own;
  traits.use = ToldUse::tokens;
  return traits;
}

}  // namespace shepherd
