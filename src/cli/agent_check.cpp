#include "cli/agent_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/acp/acp_harness.h"
#include "harness/live/live_check.h"
#include "harness/live/scripted_place.h"
#include "harness/model/recipe.h"
#include "runner/task_run.h"

namespace shepherd {
namespace {

void add_variables(std::vector<std::string>& environment, const ProgramAgent& program) {
  for (const auto& [name, value] : program.environment) environment.push_back(fmt::format("{}={}", name, value));
}

auto status_line(Context& context) {
  return [&context](const std::string& what) { context.err.status("trying: " + what); };
}

}  // namespace

Result<ExitCode> run_acp_check(Context& context, const AgentCheckRequest& request) {
  harness::AcpHarnessOptions options;
  options.command = request.program.command;
  std::unique_ptr<harness::ScriptedPlace> place;
  if (has_live_check(request.name)) {
    auto made = harness::ScriptedPlace::make(request.name, context.environment("PATH"));
    if (!made) return fail(std::move(made.error()));
    place = *std::move(made);
    options.environment = place->environment();
  } else {
    options.environment = agent_environment();
  }
  add_variables(options.environment, request.program);
  options.answer = request.answer.value_or(kAcpAnswer);
  options.progress = status_line(context);
  auto report = harness::test_acp_agent(options);
  context.err.status("");
  if (!report) return fail(report.error());
  return give_report(context, *report, request.form);
}

bool has_live_check(const std::string& name) {
  auto names = harness::agents_with_recipe();
  return std::ranges::find(names, name) != names.end();
}

Result<ExitCode> run_live_check(Context& context, const AgentCheckRequest& request) {
  harness::LiveOptions options;
  options.agent = request.name;
  options.driver = request.driver;
  options.command = request.program.command;
  options.path = context.environment("PATH");
  options.answer = request.answer.value_or(kLiveCheckAnswer);
  options.progress = status_line(context);
  auto live = harness::test_agent_live(options);
  context.err.status("");
  if (!live) return fail(live.error());
  auto code = give_report(context, live->report, request.form);
  if (code && !live->logs.empty()) {
    context.err.line("the logs of the checks, an event on each line: " + live->logs);
    context.err.flush();
  }
  return code;
}

}  // namespace shepherd
