// The live checks.
#include <fmt/format.h>

#include <filesystem>

#include "harness/live/live_trial.h"
#include "json/scan.h"

namespace shepherd::harness {
namespace {

bool is_there(const std::string& path) {
  std::error_code problem;
  return std::filesystem::exists(path, problem);
}

bool is_type(std::string_view event, std::string_view type) {
  return shepherd::text_member(event, "type") == type;
}

Command make_command(CommandKind kind) {
  Command command;
  command.kind = kind;
  return command;
}

// The id of the approval that the agent waits for; empty, and a defect, if it asks for none.
std::string asked(LiveTrial& trial, LiveRun& run, const std::string& check) {
  auto approval = run.log().find(
      [](std::string_view event) {
        return is_type(event, "approval") && shepherd::text_member(find_member(event, "data"), "state") == "pending";
      },
      trial.run_wait());
  if (approval) return shepherd::text_member(find_member(*approval, "data"), "approvalID");
  trial.report.fail(check, "does_not_ask", "it did not ask before it ran a command, although its mode is interactive");
  trial.keep_log(run, check);
  return {};
}

bool can_ask(LiveTrial& trial, const std::string& check) {
  if (trial.asks.value_or(true)) return true;
  trial.report.skip(check, "driven this way, the agent never asks before it acts");
  return false;
}

}  // namespace

void live_command(LiveTrial& trial) {
  auto run = trial.begin("command", "echo ran > " + trial.work("ran"), AgentMode::autonomous);
  if (!run) return;
  auto outcome = trial.finish(*run, "command", State::completed);
  if (!outcome) return;
  auto of_type = [&](std::string_view type) {
    return run->log().find([&](std::string_view event) { return is_type(event, type); }, std::chrono::milliseconds(0));
  };
  if (auto status = of_type("status")) {
    std::string_view capabilities = find_member(find_member(*status, "data"), "capabilities");
    if (!capabilities.empty()) trial.asks = find_member(capabilities, "approvals") == "true";
  }
  if (trial.place.model().asked() == 0) {
    trial.report.fail("command", "model_not_asked", "the agent has not asked the scripted model for anything");
  } else if (!is_there(trial.work("ran"))) {
    trial.report.fail("command", "command_not_run", "the command of the scripted model was not run");
  }
  for (std::string_view type : {"session_start", "tool_call", "tool_result"}) {
    if (!of_type(type)) {
      trial.report.fail("log", fmt::format("no_{}", type),
                        fmt::format("the log of a run with a command has no {}", type));
    }
  }
  trial.report.pass("log");
  trial.report.pass("command");
}

void live_approval(LiveTrial& trial) {
  if (!can_ask(trial, "approval")) return;
  auto run = trial.begin("approval", "touch " + trial.work("approved"), AgentMode::interactive);
  if (!run) return;
  Command approve = make_command(CommandKind::approve);
  approve.approval_id = asked(trial, *run, "approval");
  if (approve.approval_id.empty()) return;
  bool settled = trial.settles(*run, "approval", std::move(approve));
  if (!trial.finish(*run, "approval", State::completed) || !settled) return;
  if (!is_there(trial.work("approved"))) {
    trial.report.fail("approval", "approved_not_run", "the command was approved, and it was not run");
  }
  trial.report.pass("approval");
}

void live_denial(LiveTrial& trial) {
  if (!can_ask(trial, "denial")) return;
  auto run = trial.begin("denial", "touch " + trial.work("denied"), AgentMode::interactive);
  if (!run) return;
  Command deny = make_command(CommandKind::deny);
  deny.approval_id = asked(trial, *run, "denial");
  if (deny.approval_id.empty()) return;
  trial.settles(*run, "denial", std::move(deny));
  auto outcome = run->wait(trial.run_wait());  // completed or not: some agents end their turn when they are denied
  trial.keep_log(*run, "denial");
  if (!outcome) trial.report.fail("denial", "run_does_not_end", "the run has not ended after a denial");
  if (is_there(trial.work("denied"))) {
    trial.report.fail("denial", "denied_was_run", "the command was denied, and it was run all the same");
  }
  trial.report.pass("denial");
}

void live_interrupt(LiveTrial& trial) {
  auto run = trial.begin("interrupt", "touch " + trial.work("long") + "; sleep 100", AgentMode::autonomous);
  if (!run) return;
  if (trial.made(*run, "interrupt", "long")) {
    if (!run->can(CommandKind::interrupt)) {
      trial.report.skip("interrupt", "driven this way, the agent cannot be interrupted");
    } else if (trial.settles(*run, "interrupt", make_command(CommandKind::interrupt))) {
      trial.report.pass("interrupt");
    }
  }
  trial.keep_log(*run, "interrupt");  // then it is killed
}

void live_stop(LiveTrial& trial) {
  auto run = trial.begin("stop", "touch " + trial.work("began") + "; sleep 100", AgentMode::autonomous);
  if (!run) return;
  bool began = trial.made(*run, "stop", "began");
  bool settled = trial.settles(*run, "stop", make_command(CommandKind::stop));
  auto outcome = trial.finish(*run, "stop", State::cancelled);
  if (began && settled && outcome) trial.report.pass("stop");
}

}  // namespace shepherd::harness
