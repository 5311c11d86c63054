#include "harness/live/live_check.h"

#include <fmt/format.h>

#include "harness/live/live_trial.h"

namespace shepherd::harness {
namespace {

using Steady = std::chrono::steady_clock;

constexpr CheckTitle kLiveChecks[] = {
    {"command", "A run with one command completes"},
    {"log", "The log of that run has its beginning, the call and its result"},
    {"approval", "It asks, and what is approved is done"},
    {"denial", "It asks, and what is denied is not done"},
    {"interrupt", "An interrupt in the middle of a command arrives"},
    {"stop", "A stop in the middle of a command ends every process"},
};

struct LiveScenario {
  const char* check;
  void (*run)(LiveTrial&);
};

constexpr LiveScenario kLiveScenarios[] = {
    {"command", live_command},     {"approval", live_approval}, {"denial", live_denial},
    {"interrupt", live_interrupt}, {"stop", live_stop},
};

std::int64_t ms_since(Steady::time_point begun) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - begun).count();
}

Result<void> run_checks(LiveTrial& trial) {
  for (const LiveScenario& scenario : kLiveScenarios) {
    if (trial.options.progress) trial.options.progress(scenario.check);
    Steady::time_point begun = Steady::now();
    scenario.run(trial);
    trial.report.took(scenario.check, ms_since(begun));
    if (trial.cannot_start) return fail(*trial.cannot_start);
    if (trial.report.has("command", "model_not_asked")) break;
  }
  trial.report.skip_rest("not tried: a run with one command did not work");
  return {};
}

}  // namespace

std::span<const CheckTitle> live_checks() {
  return kLiveChecks;
}

Result<LiveReport> test_agent_live(const LiveOptions& options) {
  Steady::time_point begun = Steady::now();
  auto place = ScriptedPlace::make(options.agent, options.path);
  if (!place) return fail(std::move(place.error()));
  LiveReport live{.report = Report(live_checks()), .logs = {}};
  live.report.agent = readable(fmt::format("{}: {}", options.agent, fmt::join(options.command, " ")));
  LiveTrial trial{.options = options, .report = live.report, .place = **place};
  if (auto ran = run_checks(trial); !ran) return fail(std::move(ran.error()));
  live.report.duration_ms = ms_since(begun);
  if (live.report.failed()) {
    (*place)->keep_logs();
    live.logs = (*place)->logs();
  }
  return live;
}

}  // namespace shepherd::harness
