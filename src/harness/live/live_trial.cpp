#include "harness/live/live_trial.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "json/scan.h"

namespace shepherd::harness {
namespace {

using Steady = std::chrono::steady_clock;

bool exists(const std::string& path) {
  std::error_code problem;
  return std::filesystem::exists(path, problem);
}

std::string data_text(std::string_view event, std::string_view name) {
  return shepherd::text_member(find_member(event, "data"), name);
}

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// The newest words of the log that say what went wrong.
std::string last_trouble(const LiveLog& log) {
  std::string found;
  for (const std::string& event : log.events()) {
    std::string type = shepherd::text_member(event, "type");
    if (type == "error" || type == "log") found = shepherd::text_member(event, "summary");
  }
  return found.empty() ? "" : "; its log says: " + found;
}

}  // namespace

std::unique_ptr<LiveRun> LiveTrial::begin(const std::string& check, const std::string& command, AgentMode mode) {
  TaskOrder order;
  order.task = "agent-test-" + check;
  order.agent = options.agent;
  order.description = "Run exactly this shell command, once, and do nothing else: `" + command + "`";
  order.mode = mode;
  AgentSettings settings;
  settings.directory = place.work();
  settings.environment = place.environment();
  settings.driver = options.driver;
  settings.program = options.command.front();
  if (options.command.size() > 1) settings.command = options.command;
  settings.warden_program = options.warden_program;
  auto run = LiveRun::start(std::move(order), std::move(settings));
  if (run) return *std::move(run);
  cannot_start = std::move(run.error());
  return nullptr;
}

bool LiveTrial::made(LiveRun& run, const std::string& check, const std::string& name) {
  auto deadline = Steady::now() + run_wait();
  while (!exists(work(name))) {
    bool over = run.wait(kLiveFileLook).has_value();
    if (exists(work(name))) break;
    if (over || Steady::now() >= deadline) {
      report.fail(check, "command_not_run",
                  fmt::format("the command of the scripted model was not run{}{}",
                              place.model().asked() == 0 ? "; the agent has not asked the model for anything" : "",
                              last_trouble(run.log())));
      return false;
    }
  }
  return true;
}

std::optional<AgentOutcome> LiveTrial::finish(LiveRun& run, const std::string& check, State wanted) {
  auto outcome = run.wait(run_wait());
  keep_log(run, check);
  if (!outcome) {
    report.fail(check, "run_does_not_end",
                fmt::format("the run has not ended after {:.0f} s{}", seconds(run_wait()), last_trouble(run.log())));
    return {};
  }
  if (!outcome->end) {
    cannot_start = Error{.code = ErrorCode::unavailable,
                         .reason = "agent_start",
                         .message = fmt::format("{} cannot be started: {}", options.agent, outcome->message),
                         .fields = {}};
    return {};
  }
  if (outcome->state != wanted) {
    report.fail(check, "wrong_end",
                fmt::format("the task is {}, expected {}: {}", name(outcome->state), name(wanted), outcome->message));
  }
  if (!outcome->end->left.empty()) {
    report.fail(check, "leaves_processes",
                fmt::format("{} of its processes could not be ended, first {}", outcome->end->left.size(),
                            outcome->end->left.front().command_line));
  }
  return outcome;
}

bool LiveTrial::settles(LiveRun& run, const std::string& check, Command command) {
  std::string id = command.id = "check-" + std::string(name(command.kind));
  std::string kind(name(command.kind));
  run.command(std::move(command));
  std::string seen = "nothing became of it";
  auto settled = run.log().find(
      [&](std::string_view event) {
        if (shepherd::text_member(event, "type") != "command_result" || data_text(event, "id") != id) return false;
        seen = data_text(event, "state");
        return seen == "acknowledged" || seen == "refused" || seen == "expired";
      },
      options.answer);
  if (seen == "acknowledged" || (!settled && seen == "delivered")) return true;
  report.fail(check, "command_not_settled",
              fmt::format("{}: {}{}", kind, seen,
                          settled ? " (" + data_text(*settled, "reason") + ")" : last_trouble(run.log())));
  return false;
}

void LiveTrial::keep_log(LiveRun& run, const std::string& check) const {
  std::ofstream file(place.logs() + "/" + check + ".ndjson", std::ios::trunc);
  for (const std::string& event : run.log().events()) file << event << '\n';
}

}  // namespace shepherd::harness
