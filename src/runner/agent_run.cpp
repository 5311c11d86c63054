#include "runner/agent_run.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/assert.h"
#include "driver/registry/registry.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "process/agent_process.h"
#include "runner/grpc_link.h"

// The lock is held during calls to the driver, the outbox and the link. They do not block, and none of them calls back
// during a call. The lock keeps lines, commands and time in one order.
namespace shepherd {
namespace {

// The last one counts, as for the program.
std::string variable_of(const AgentSpec& spec, std::string_view name) {
  std::string value;
  for (std::string_view entry : spec.environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) value = entry.substr(name.size() + 1);
  }
  return value;
}

}  // namespace

AgentRun::AgentRun(const TaskOrder& order, TaskEvents& events, const Clock& clock)
    : order_(order), events_(events), clock_(clock) {}

// Destroyed here and not with the members, because the link's last calls still need all of them.
AgentRun::~AgentRun() {
  std::unique_ptr<AgentLink> gone;
  MutexLock lock(mutex_);
  gone = std::move(link_);
}

AgentOutcome AgentRun::run(AgentSettings settings) {
  OutputFormat format = settings.format;
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(link_ == nullptr && driver_ == nullptr, "an agent is run once");
    settings_ = std::move(settings);
  }
  for (int number = 1;; ++number) {
    Start start = run_once(format, number);
    if (!start.retry_with) {
      MutexLock lock(mutex_);
      finished_ = true;
      return std::move(start.outcome);
    }
    format = *start.retry_with;
    if (start.unknown_option.empty()) {
      events_.log("The agent program does not know this way of talking; starting it again with output format " +
                  std::string(name(format)));
      continue;
    }
    events_.log("The agent program does not know " + start.unknown_option + "; starting it again without");
    MutexLock lock(mutex_);
    without_.push_back(std::move(start.unknown_option));
  }
}

AgentOutcome AgentRun::never_started(const std::string& why) {
  MutexLock lock(mutex_);
  finished_ = true;
  AgentOutcome outcome = judged({State::failed, why, std::nullopt, ""}, {});
  outcome.end = preparation_.end();
  return outcome;
}

AgentRun::Start AgentRun::run_once(OutputFormat format, int number) {
  {
    MutexLock lock(mutex_);
    if (cause_ != EndCause::none) {
      finished_ = true;
      Start never{std::nullopt, judged({}, {}), ""};
      if (!never.outcome.end) never.outcome.end = preparation_.end();
      return never;
    }
    if (Result<void> started = start(format, number); !started) {
      finished_ = true;
      events_.error("cannot_start", started.error().message);
      return {std::nullopt, {State::failed, started.error().message, cause_, std::nullopt}, ""};
    }
  }
  AgentEnd end = wait_for_end();
  std::unique_ptr<AgentLink> gone;  // joined without the lock, which its thread may need
  MutexLock lock(mutex_);
  ExitFacts exit{end.exit.code, end.exit.signal, end.by_ladder(), end.stream ? end.stream->message : ""};
  Verdict verdict = driver_->finish(exit, clock_.wall_ms(), output_);
  gone = std::move(link_);
  bool again = verdict.retry_with && cause_ == EndCause::none;
  if (!again) finished_ = true;
  flush();
  if (again) return {verdict.retry_with, {}, verdict.unknown_option};
  if (cause_ == EndCause::none && end.by_ladder()) tell_forced_end(end);
  return {std::nullopt, judged(verdict, std::move(end)), ""};
}

Result<void> AgentRun::start(OutputFormat format, int number) {
  driver_ = make_driver(settings_.driver.empty() ? order_.agent : settings_.driver);
  if (driver_ == nullptr) {
    return fail(ErrorCode::invalid_argument, "unknown_agent", "this runner knows no agent \"" + order_.agent + "\"");
  }
  Launch launch;
  launch.id = order_.task + "/" + std::to_string(number);
  launch.task = order_.task;
  launch.program = settings_.program;
  launch.version = settings_.version;
  launch.command = order_.command;
  // A command line is the description of the task that runs it, not a prompt.
  if (order_.command.empty()) {
    launch.prompt = order_.description;
    launch.context = order_.context;
    launch.repo_url = order_.repo_url;
    launch.repo_ref = order_.repo_ref;
    launch.rules = settings_.rules;
  }
  launch.without = without_;
  launch.model = order_.model;
  launch.max_turns = order_.max_turns;
  launch.budget_usd = order_.budget_usd;
  launch.allowed_tools = order_.allowed_tools;
  launch.mcp_servers_json = order_.mcp_servers_json;
  launch.mode = order_.mode;
  launch.resume_session = order_.resume_session;
  launch.format = format;
  launch.deltas = settings_.deltas;
  Result<LaunchPlan> plan = driver_->launch(launch);
  if (!plan) return fail(std::move(plan.error()));

  Result<std::unique_ptr<AgentLink>> link = open_link(*plan);
  if (!link) return fail(std::move(link.error()));
  link_ = *std::move(link);
  if (started_ms_ == 0) started_ms_ = clock_.steady_ms();
  input_closed_ = !plan->keep_input_open;
  if (!plan->standard_input.empty()) {
    auto written = link_->write(plan->standard_input);
    // If the agent is gone before the first write, its end has the reason.
    if (!written && written.error().code != ErrorCode::gone) return fail(std::move(written.error()));
  }
  if (input_closed_) link_->close_input();
  tell_start(*plan, format);
  return {};
}

Result<std::unique_ptr<AgentLink>> AgentRun::open_link(const LaunchPlan& plan) {
  if (!plan.grpc_method.empty()) {
    if (!settings_.remote) {
      return fail(ErrorCode::invalid_argument, "no_address",
                  "the agent \"" + order_.agent +
                      "\" is a service; say where it is, with --address or under \"agents\" "
                      "in the configuration");
    }
    Result<GrpcTarget> target = grpc_target(*settings_.remote, plan.grpc_method);
    if (!target) return fail(std::move(target.error()));
    AgentObserver& listener = *this;
    return std::make_unique<GrpcLink>(*std::move(target), listener, clock_);
  }
  AgentSpec spec;
  spec.command = plan.argv;
  spec.environment = settings_.environment;
  for (const EnvironmentEntry& entry : plan.environment) spec.environment.push_back(entry.name + "=" + entry.value);
  spec.directory = settings_.directory;
  spec.with_stdin = plan.keep_input_open || !plan.standard_input.empty();
  spec.warden_program = settings_.warden_program;
  spec.confinement = settings_.confinement;
  if (spec.confinement.level == ConfineLevel::workspace) spec.environment.emplace_back("TMPDIR=/tmp");
  // The program may need files beside it, and it may be in a temporary directory, which level workspace hides.
  std::error_code error;
  std::filesystem::path program = std::filesystem::canonical(spec.command.front(), error);
  if (!error) {
    spec.confinement.readable.push_back(program.string());
    spec.confinement.readable.push_back(program.parent_path().string());
    spec.confinement.readable.push_back(std::filesystem::path(spec.command.front()).parent_path().string());
  }
  for (std::string& path : driver_->state_paths([&](std::string_view name) { return variable_of(spec, name); })) {
    // The confined agent could not create it.
    if (spec.confinement.level == ConfineLevel::workspace) std::filesystem::create_directories(path, error);
    spec.confinement.writable.push_back(std::move(path));
  }
  Result<std::unique_ptr<AgentProcess>> process = AgentProcess::start(spec, *this, clock_);
  if (!process) return fail(std::move(process.error()));
  confined_ = (*process)->confined();
  if (const std::string& why = (*process)->why_not_better(); !why.empty()) {
    events_.log((*process)->confined_by() == ConfineMeans::landlock
                    ? "The agent is confined by Landlock and not by namespaces (docs/security.md says what that costs "
                      "it): " +
                          why
                    : "The agent runs unconfined, because this machine cannot confine it: " + why);
  }
  return std::unique_ptr<AgentLink>(*std::move(process));
}

void AgentRun::tell_start(const LaunchPlan& plan, OutputFormat asked) {
  std::string members = "\"capabilities\":" + encode_capabilities(driver_->capabilities());
  members += ",\"confined\":\"" + std::string(name(confined_)) + "\"";
  if (!settings_.version.empty()) {
    members += ",\"agentVersion\":";
    append_json_string(members, settings_.version);
  }
  if (settings_.remote) {
    // A service reports itself that it runs.
    events_.status(State::starting, "Connecting to " + settings_.remote->address, members);
  } else {
    events_.status(State::running, "running", members);
  }
  if (plan.format != asked && !settings_.version.empty()) {
    events_.log("Version " + settings_.version + " of the agent has no output format " + std::string(name(asked)) +
                "; it was started with " + std::string(name(plan.format)));
  }
}

// The agent's own result counts, because its work was done before. This reports how it had to be ended.
void AgentRun::tell_forced_end(const AgentEnd& end) {
  if (end.stream) return events_.log("The agent's work was done, but it did not end its stream; it was cancelled");
  events_.log("The agent ignored the end of its input and " + how_it_ended({end.exit.code, end.exit.signal, true}) +
              "; " + std::to_string(end.ended.size()) + (end.ended.size() == 1 ? " process" : " processes") + " gone");
}

void AgentRun::on_output(AgentStream stream, std::string_view bytes) {
  MutexLock lock(mutex_);
  tell_going_on();
  LineSplitter& lines = stream == AgentStream::out ? out_lines_ : err_lines_;
  // The thread-safety analysis does not follow the lambda; the lock is held here.
  lines.add(bytes, [&](const Line& line) NO_THREAD_SAFETY_ANALYSIS { take_line(stream, line); });
  look();
}

void AgentRun::on_record(std::string_view record) {
  MutexLock lock(mutex_);
  tell_going_on();
  SHEPHERD_ASSERT(driver_ != nullptr, "the driver is there before the link that speaks to it");
  driver_->record(record, clock_.wall_ms(), output_);
  flush();
  look();
}

void AgentRun::tell_going_on() {
  if (std::exchange(stalled_, false)) events_.status(State::running, "The agent goes on", "\"stalled\":false");
}

void AgentRun::take_line(AgentStream stream, const Line& line) {
  std::int64_t now_ms = clock_.wall_ms();
  if (stream == AgentStream::out) {
    driver_->record(line.text, now_ms, output_);
  } else {
    driver_->stderr_line(line.text, now_ms, output_);
  }
  flush();
  if (line.cut_bytes > 0) {
    events_.log("A line of the agent was too long; " + std::to_string(line.cut_bytes) + " bytes of it are lost");
  }
}

void AgentRun::on_end(const AgentEnd& end) {
  MutexLock lock(mutex_);
  auto out = [&](const Line& line) NO_THREAD_SAFETY_ANALYSIS { take_line(AgentStream::out, line); };
  auto err = [&](const Line& line) NO_THREAD_SAFETY_ANALYSIS { take_line(AgentStream::err, line); };
  out_lines_.finish(out);
  err_lines_.finish(err);
  SHEPHERD_ASSERT(!end_, "an agent ends once");
  end_ = end;
  changed_.notify_all();
}

// Carries out the results of the driver's last calls.
void AgentRun::flush() {
  for (const TextDelta& delta : output_.deltas) events_.delta(delta);
  for (const DriverEvent& event : output_.events) events_.add(event);
  Result<void> given;
  if (!output_.to_agent.empty()) {
    given =
        link_ == nullptr ? fail(ErrorCode::gone, "agent_ended", "the agent has ended") : link_->write(output_.to_agent);
  }
  for (CommandUpdate& update : output_.commands) {
    if (update.id.empty()) continue;  // the runner's own command
    bool lost = update.state == CommandState::delivered && !given;
    events_.command_result(update.id, lost ? CommandState::refused : update.state,
                           lost ? given.error().message : update.reason, std::move(update.detail));
  }
  for (int signal : output_.signals) {
    if (link_ == nullptr) break;
    if (signal == SIGSTOP) link_->pause();
    if (signal == SIGCONT) link_->resume();
  }
  if (output_.close_input && link_ != nullptr) {
    input_closed_ = true;
    link_->close_input();
  }
  output_.clear();
}

void AgentRun::command(const Command& command) {
  MutexLock lock(mutex_);
  if (link_ == nullptr || end_) {
    if (command.kind != CommandKind::stop) {
      return events_.command_result(command.id, CommandState::refused,
                                    finished_ || end_ ? "the agent has ended" : "the agent is not running yet");
    }
    if (!finished_) set_cause(EndCause::stopped, command.reason);
    return events_.command_result(command.id, CommandState::acknowledged, "");
  }
  if (command.kind == CommandKind::stop) {
    set_cause(EndCause::stopped, command.reason);
    begin_end(command);
  } else {
    driver_->command(command, clock_.wall_ms(), output_);
    flush();
  }
  look();
}

void AgentRun::withdraw(const std::string& command_id) {
  MutexLock lock(mutex_);
  if (driver_ != nullptr) driver_->withdraw(command_id);
}

void AgentRun::end(EndCause cause, std::string message) {
  MutexLock lock(mutex_);
  if (finished_) return;
  set_cause(cause, std::move(message));
  if (link_ == nullptr || end_) return;
  Command stop;  // without an id, because no operator sent it
  stop.kind = CommandKind::stop;
  begin_end(stop);
}

void AgentRun::kill() {
  MutexLock lock(mutex_);
  set_cause(EndCause::stopped, "");
  if (link_ != nullptr) link_->kill();
}

void AgentRun::set_cause(EndCause cause, std::string message) {
  preparation_.stop();
  if (cause_ != EndCause::none) return;
  cause_ = cause;
  cause_message_ = std::move(message);
}

// The driver's own interrupt is the ladder's first rung; the ladder sends the signals later.
void AgentRun::begin_end(const Command& stop) {
  SHEPHERD_ASSERT(link_ != nullptr, "only an agent that runs is ended");
  SHEPHERD_ASSERT(cause_ != EndCause::none, "an agent is ended for a cause");
  driver_->command(stop, clock_.wall_ms(), output_);
  std::string bytes = std::exchange(output_.to_agent, {});
  output_.signals.clear();
  flush();
  StopPlan plan = settings_.ladder;
  plan.interrupt = [link = link_.get(), bytes = std::move(bytes)] {
    return !bytes.empty() && link->write(bytes).has_value();
  };
  link_->stop(std::move(plan));
}

bool AgentRun::can(CommandKind kind) const {
  MutexLock lock(mutex_);
  return link_ != nullptr && driver_->capabilities().can(kind);
}

Hints AgentRun::hints() const {
  MutexLock lock(mutex_);
  return driver_ == nullptr ? Hints{} : driver_->hints();
}

AgentOutcome AgentRun::judged(const Verdict& verdict, AgentEnd end) const {
  AgentOutcome outcome{verdict.state, verdict.message, cause_, std::nullopt};
  if (link_ != nullptr || driver_ != nullptr) outcome.end = std::move(end);
  auto because = [&outcome, said = cause_message_](State state, std::string_view otherwise) {
    outcome.state = state;
    outcome.message = said.empty() ? std::string(otherwise) : said;
  };
  switch (cause_) {
    case EndCause::none:
      break;
    case EndCause::stopped:
      because(State::cancelled, "stopped");
      break;
    case EndCause::timed_out:
      because(State::timed_out, "timed out");
      break;
    case EndCause::over_budget:
      because(State::failed, "over budget");
      break;
    case EndCause::lease_lost:
      because(State::failed, "the server gave this task up");
      break;
    case EndCause::deleted:
      because(State::cancelled, "the task was deleted");
      break;
    case EndCause::shutdown:
      because(State::cancelled, "the runner was stopped");
      break;
  }
  return outcome;
}

}  // namespace shepherd
