#include "runner/agent_run.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "driver/registry/registry.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "runner/guards.h"
#include "runner/limits.h"
#include "runner/open_link.h"

// The lock is held during calls to the driver, the outbox and the link. They do not block, and none of them calls back
// during a call. The lock keeps lines, commands and time in one order. It is not held while a link is opened: that can
// take as long as a disk or a machine likes, and commands, the end and the keeper of leases would wait for it.
namespace shepherd {
namespace {

// The last one counts, as for the program.
std::string variable_of(const std::vector<std::string>& environment, std::string_view name) {
  std::string value;
  for (std::string_view entry : environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) value = entry.substr(name.size() + 1);
  }
  return value;
}

// What can wait for an agent that is being prepared. An interrupt or an answer is about something that it does.
bool can_wait(CommandKind kind) {
  return kind == CommandKind::steer || kind == CommandKind::queue || kind == CommandKind::set_mode;
}

}  // namespace

AgentRun::AgentRun(const TaskOrder& order, TaskEvents& events, const Clock& clock)
    : order_(order), events_(events), clock_(clock) {}

// Destroyed here and not with the members, because the link's last calls still need all of them.
AgentRun::~AgentRun() {
  std::unique_ptr<AgentLink> gone;
  std::unique_ptr<HostCalls> host;
  MutexLock lock(mutex_);
  answering_ = false;
  changed_.notify_all();
  gone = std::move(link_);
  host = std::move(host_);
}

AgentOutcome AgentRun::run(AgentSettings settings) {
  LaunchOptions options = settings.options;
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(link_ == nullptr && driver_ == nullptr, "an agent is run once");
    settings_ = std::move(settings);
    costs_ = UsageCosts(settings_.prices);
  }
  for (int number = 1;; ++number) {
    Start start = run_once(options, number);
    if (!start.retry) {
      start.outcome.options = std::move(options);
      return std::move(start.outcome);
    }
    events_.log(start.retry->why);
    options = std::move(start.retry->options);
  }
}

AgentOutcome AgentRun::never_started(const std::string& why) {
  MutexLock lock(mutex_);
  finish();
  AgentOutcome outcome = judged({State::failed, why, std::nullopt}, {});
  outcome.end = preparation_.end();
  return outcome;
}

// No agent will run any more.
void AgentRun::finish() {
  finished_ = true;
  for (const Command& command : std::exchange(held_, {})) {
    events_.command_result(command.id, CommandState::refused, "the agent has ended");
  }
}

AgentRun::Start AgentRun::run_once(const LaunchOptions& options, int number) {
  {
    MutexLock lock(mutex_);
    if (cause_ != EndCause::none) {
      finish();
      Start never{std::nullopt, judged({}, {})};
      if (!never.outcome.end) never.outcome.end = preparation_.end();
      return never;
    }
  }
  if (Result<void> started = start(options, number); !started) {
    MutexLock lock(mutex_);
    finish();
    events_.error("cannot_start", started.error().message);
    return {std::nullopt, {State::failed, started.error().message, cause_, std::nullopt}};
  }
  AgentEnd end = wait_for_end();
  end_host(end);
  std::unique_ptr<AgentLink> gone;  // joined without the lock, which its thread may need
  MutexLock lock(mutex_);
  ExitFacts exit{end.exit.code, end.exit.signal, end.by_ladder(), end.stream ? end.stream->message : ""};
  Verdict verdict = driver_->finish(exit, clock_.wall_ms(), output_);
  gone = std::move(link_);
  bool again = verdict.retry && cause_ == EndCause::none;
  flush();
  if (again) return {std::move(verdict.retry), {}};
  finish();
  if (cause_ == EndCause::none && end.by_ladder()) tell_forced_end(end);
  return {std::nullopt, judged(verdict, std::move(end))};
}

Result<void> AgentRun::start(const LaunchOptions& options, int number) {
  Result<LinkRequest> request = plan_start(options, number);
  if (!request) return fail(std::move(request.error()));
  bool program = request->plan.program() != nullptr;
  // Before the agent can rename anything.
  Result<HostFiles> files = fail(ErrorCode::unavailable, "not_supported", "this agent runs elsewhere.");
  if (program) files = HostFiles::open(request->settings.directory, request->settings.confinement.hidden);
  Result<OpenedLink> opened = open_link(*request, *this, clock_);
  MutexLock lock(mutex_);
  opening_ = false;
  changed_.notify_all();
  if (!opened) return fail(std::move(opened.error()));
  if (program) begin_host(std::move(files), std::move(opened->beside));
  return begin(request->plan, *opened);
}

Result<LinkRequest> AgentRun::plan_start(const LaunchOptions& options, int number) {
  MutexLock lock(mutex_);
  driver_ = make_driver(settings_.driver.empty() ? order_.agent : settings_.driver);
  if (driver_ == nullptr) {
    return fail(ErrorCode::invalid_argument, "unknown_agent", "this runner knows no agent \"" + order_.agent + "\"");
  }
  Launch launch;
  launch.id = order_.task + "/" + std::to_string(number);
  launch.task = order_.task;
  launch.program = settings_.program;
  launch.version = settings_.version;
  launch.command = order_.command.empty() ? settings_.command : order_.command;
  // A command line is the description of the task that runs it, not a prompt.
  if (order_.command.empty()) {
    launch.prompt = order_.description;
    launch.context = order_.context;
    launch.repo_url = order_.repo_url;
    launch.repo_ref = order_.repo_ref;
    launch.rules = settings_.rules;
  }
  launch.model = order_.model;
  launch.max_turns = order_.max_turns;
  launch.budget_usd = order_.budget_usd;
  launch.allowed_tools = order_.allowed_tools;
  launch.mcp_servers_json = order_.mcp_servers_json;
  launch.mode = order_.mode;
  launch.resume_session = order_.resume_session;
  launch.options = options;
  launch.deltas = settings_.deltas;
  launch.directory = settings_.directory;
  Result<LaunchPlan> plan = driver_->launch(launch);
  if (!plan) return fail(std::move(plan.error()));
  LinkRequest request{order_.agent, *std::move(plan), settings_, {}};
  if (const ProgramLaunch* program = request.plan.program()) {
    std::vector<std::string>& environment = request.settings.environment;
    environment = program_environment(settings_, *program);
    request.state_paths = driver_->state_paths([&](std::string_view name) { return variable_of(environment, name); });
  }
  opening_ = true;
  return request;
}

Result<void> AgentRun::begin(const LaunchPlan& plan, OpenedLink& opened) {
  link_ = std::move(opened.link);
  if (!opened.remark.empty()) events_.log(opened.remark);
  if (started_ms_ == 0) started_ms_ = clock_.steady_ms();
  input_closed_ = !plan.keep_input_open;
  if (!plan.input.empty()) {
    auto written = link_->write(plan.input);
    // If the agent is gone before the first write, its end has the reason.
    if (!written && written.error().code != ErrorCode::gone) return fail(std::move(written.error()));
  }
  if (input_closed_) link_->close_input();
  tell_start(plan, opened);
  // What came while the link was being opened.
  if (killed_) link_->kill();
  if (cause_ != EndCause::none) {
    Command stop;
    stop.kind = CommandKind::stop;
    begin_end(stop);
    return {};
  }
  for (const Command& command : std::exchange(held_, {})) {
    driver_->command(command, clock_.wall_ms(), output_);
    flush();
  }
  return {};
}

void AgentRun::begin_host(Result<HostFiles> files, Result<AgentSpec> beside) {
  host_ = std::make_unique<HostCalls>(HostPlace{std::move(files), std::move(beside)}, clock_,
                                      [this](const HostAnswer& answer) { give_answer(answer); });
  answering_ = true;
}

void AgentRun::give_answer(const HostAnswer& answer) {
  MutexLock lock(mutex_);
  while (answering_ && link_->unread_bytes() > kMaxUnreadBytes) changed_.wait_for(mutex_, kUnreadPause);
  if (!answering_) return;
  driver_->answer(answer, clock_.wall_ms(), output_);
  flush();
  look();
}

void AgentRun::end_host(AgentEnd& end) {
  std::unique_ptr<HostCalls> host;
  {
    MutexLock lock(mutex_);
    host = std::move(host_);
    if (host != nullptr && killed_) host->kill();
  }
  if (host == nullptr) return;
  AgentEnd others = host->end();
  if (!others.ended.empty()) {
    events_.log("Commands that the agent had started beside itself were ended; " + std::to_string(others.ended.size()) +
                (others.ended.size() == 1 ? " process" : " processes") + " gone");
  }
  add_end(end, std::move(others));
}

// A link's first words can come before it is installed.
void AgentRun::wait_for_link() {
  while (opening_) changed_.wait(mutex_);
}

void AgentRun::tell_start(const LaunchPlan& plan, const OpenedLink& opened) {
  std::string members = "\"capabilities\":" + encode_capabilities(driver_->capabilities());
  members += ",\"confined\":\"" + std::string(name(opened.confined)) + "\"";
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
  if (!plan.remark.empty()) events_.log(plan.remark);
  if (std::string remark = remark_on_bounds(order_, driver_->traits()); !remark.empty()) events_.log(remark);
}

// The agent's own result counts, because its work was done before. This reports how it had to be ended.
void AgentRun::tell_forced_end(const AgentEnd& end) {
  if (end.stream) return events_.log("The agent's work was done, but it did not end its stream; it was cancelled");
  events_.log("The agent ignored the end of its input and " + how_it_ended({end.exit.code, end.exit.signal, true}) +
              "; " + std::to_string(end.ended.size()) + (end.ended.size() == 1 ? " process" : " processes") + " gone");
}

void AgentRun::on_output(AgentStream stream, std::string_view bytes) {
  MutexLock lock(mutex_);
  wait_for_link();
  tell_going_on();
  LineSplitter& lines = stream == AgentStream::out ? out_lines_ : err_lines_;
  // The thread-safety analysis does not follow the lambda; the lock is held here.
  lines.add(bytes, [&](const Line& line) NO_THREAD_SAFETY_ANALYSIS { take_line(stream, line); });
  look();
}

void AgentRun::on_record(std::string_view record) {
  MutexLock lock(mutex_);
  wait_for_link();
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
  wait_for_link();
  auto out = [&](const Line& line) NO_THREAD_SAFETY_ANALYSIS { take_line(AgentStream::out, line); };
  auto err = [&](const Line& line) NO_THREAD_SAFETY_ANALYSIS { take_line(AgentStream::err, line); };
  out_lines_.finish(out);
  err_lines_.finish(err);
  SHEPHERD_ASSERT(!end_, "an agent ends once");
  end_ = end;
  answering_ = false;
  changed_.notify_all();
}

// Carries out what the driver's last calls want done, in its order.
void AgentRun::flush() {
  Result<void> written;  // the newest bytes for the agent
  for (std::size_t i = 0; i < output_.size(); ++i) {
    Action action = std::move(output_[i]);  // the answer to a call adds to the list
    carry_out(action, written);
  }
  output_.clear();
}

void AgentRun::carry_out(Action& action, Result<void>& written) {
  if (auto* event = std::get_if<DriverEvent>(&action)) {
    costs_.add_to(*event, driver_->traits());
    events_.add(*event);
    if (event->type == EventType::usage) tell_unkept_budget(hints_now());
  } else if (const auto* delta = std::get_if<TextDelta>(&action)) {
    events_.delta(*delta);
  } else if (const auto* write = std::get_if<WriteInput>(&action)) {
    written =
        link_ == nullptr ? fail(ErrorCode::gone, "agent_ended", "the agent has ended") : link_->write(write->bytes);
  } else if (auto* update = std::get_if<CommandUpdate>(&action)) {
    if (update->id.empty()) return;  // the runner's own command
    bool lost = update->state == CommandState::delivered && !written;
    events_.command_result(update->id, lost ? CommandState::refused : update->state,
                           lost ? written.error().message : update->reason, std::move(update->detail));
  } else if (const auto* call = std::get_if<HostCall>(&action)) {
    std::optional<HostAnswer> now =
        host_ == nullptr
            ? HostAnswer{call->id, fail(ErrorCode::unavailable, "not_supported", "this agent runs elsewhere.")}
            : host_->take(*call);
    if (now) driver_->answer(*now, clock_.wall_ms(), output_);
  } else if (link_ == nullptr) {
    return;
  } else if (std::holds_alternative<PauseAgent>(action)) {
    link_->pause();
  } else if (std::holds_alternative<ResumeAgent>(action)) {
    link_->resume();
  } else if (std::holds_alternative<CloseInput>(action)) {
    close_input();
  }
}

// Said once: a person may want to stop an agent whose budget means nothing.
void AgentRun::tell_unkept_budget(const Hints& hints) {
  bool ours = order_.budget_usd > 0 && driver_->traits().budget == Means::runner;
  if (!ours || hints.cost_usd || budget_doubt_told_) return;
  std::string_view missing = costs_.missing();
  bool silent = missing.empty() && hints.turns > 0;
  if (missing.empty() && !silent) return;
  budget_doubt_told_ = true;
  events_.log(silent ? std::string("The budget cannot be kept: this agent does not say what it uses")
                     : "The budget cannot be kept: the configuration's `prices` have no price for " +
                           std::string(missing));
}

void AgentRun::command(const Command& command) {
  MutexLock lock(mutex_);
  bool over = finished_ || end_;
  if (command.kind == CommandKind::stop && (over || link_ == nullptr)) {
    if (!finished_) set_cause(EndCause::stopped, command.reason);
    return events_.command_result(command.id, CommandState::acknowledged, "");
  }
  if (over || link_ == nullptr) {
    bool waits = !over && cause_ == EndCause::none && can_wait(command.kind) && held_.size() < kMaxHeldCommands;
    if (waits) held_.push_back(command);
    return events_.command_result(command.id, waits ? CommandState::accepted : CommandState::refused,
                                  waits  ? "held until the agent runs"
                                  : over ? "the agent has ended"
                                         : "the agent is not running yet");
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
  std::erase_if(held_, [&](const Command& held) { return held.id == command_id; });
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
  killed_ = true;
  if (link_ != nullptr) link_->kill();
  if (host_ != nullptr) host_->kill();
}

void AgentRun::set_cause(EndCause cause, std::string message) {
  preparation_.stop();
  if (cause_ != EndCause::none) return;
  cause_ = cause;
  cause_message_ = std::move(message);
}

// What the driver says to the agent is the ladder's first rung.
void AgentRun::begin_end(const Command& stop) {
  SHEPHERD_ASSERT(link_ != nullptr, "only an agent that runs is ended");
  SHEPHERD_ASSERT(cause_ != EndCause::none, "an agent is ended for a cause");
  driver_->command(stop, clock_.wall_ms(), output_);
  std::string bytes = output_.take_written();
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
  return driver_ == nullptr ? Hints{} : hints_now();
}

// The driver's, with the cost at the configuration's prices if the agent tells none.
Hints AgentRun::hints_now() const {
  Hints hints = driver_->hints();
  if (!hints.cost_usd) hints.cost_usd = costs_.cost_usd();
  return hints;
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
    case EndCause::turns_used:
      because(State::failed, "too many turns");
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
