#include "runner/task_run.h"

#include <unistd.h>

#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "driver/registry/registry.h"
#include "outbox/event_sink.h"
#include "outbox/spool.h"
#include "runner/command_follower.h"
#include "runner/task_report.h"

namespace shepherd {

std::vector<std::string> agent_environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string_view text = *variable;
    // An agent with our token could approve its own requests.
    if (text.starts_with("SHEPHERD_TOKEN=") || text.starts_with("SHEPHERD_ADMIN_TOKEN=")) continue;
    out.emplace_back(text);
  }
  return out;
}

namespace {

// Reports the server's answers about a lease to its keeper, so that the agent stops at once and not at the next
// renewal.
class LeasedSink final : public EventSink {
 public:
  LeasedSink(std::unique_ptr<EventSink> sink, const KeptLease& lease) : sink_(std::move(sink)), lease_(lease) {}

  Result<Posted> post_events(const std::string& task, std::string_view ndjson, const std::string& producer) override {
    return heard(sink_->post_events(task, ndjson, producer));
  }
  Result<void> post_deltas(const std::string& task, std::string_view json) override {
    return heard(sink_->post_deltas(task, json));
  }

 private:
  template <class Answer>
  Answer heard(Answer answer) {
    if (!answer && answer.error().reason == "lease_lost") lease_.told_lost();
    return answer;
  }

  std::unique_ptr<EventSink> sink_;
  const KeptLease& lease_;
};

}  // namespace

// Created in this order and destroyed in reverse.
struct TaskRun::Parts {
  Parts(TaskOrder asked, TaskRunOptions given, RunnerParts shared, Redactor redacts)
      : order(std::move(asked)), options(std::move(given)), runner(std::move(shared)), redactor(std::move(redacts)) {}

  const TaskOrder order;
  TaskRunOptions options;
  RunnerParts runner;
  Redactor redactor;
  SystemRandom outbox_random, feed_random;
  std::unique_ptr<EventSink> sink;
  std::unique_ptr<Outbox> outbox;
  std::unique_ptr<TaskEvents> events;
  std::unique_ptr<AgentRun> agent;
  std::unique_ptr<CommandFollower> feed;
  std::optional<Workspace> workspace;
};

Result<std::unique_ptr<TaskRun>> TaskRun::create(TaskOrder order, TaskRunOptions options, RunnerParts shared) {
  std::vector<std::string>& environment = options.agent.environment;
  environment.push_back("SHEPHERD_TASK_ID=" + order.task);
  for (std::string& variable : git_credentials(options.repository_token, order.repo_url))
    environment.push_back(std::move(variable));
  options.workspace.environment = environment;
  RedactOptions redact = options.redact;
  for (std::string& value : secret_values(environment)) redact.secrets.push_back(std::move(value));
  if (auto& remote = options.agent.remote) {
    for (std::string& value : secrets_of(*remote)) redact.secrets.push_back(std::move(value));
    SystemRandom random;
    if (remote->traceparent.empty()) remote->traceparent = make_traceparent(random);
  }
  Result<Redactor> redactor = Redactor::create(redact);
  if (!redactor) return fail(std::move(redactor.error()));

  auto parts = std::make_unique<Parts>(std::move(order), std::move(options), std::move(shared), *std::move(redactor));
  const Clock& clock = *parts->runner.clock;
  const std::optional<KeptLease>& lease = parts->options.lease;
  OutboxOptions outbox{parts->options.spool_directory, parts->order.task, "", lease ? lease->claim().epoch : 0};
  parts->sink = make_server_sink(parts->runner.locate, parts->runner.tls, outbox.lease);
  if (lease) parts->sink = std::make_unique<LeasedSink>(std::move(parts->sink), *lease);
  if (Result<Destination> found = parts->runner.locate()) outbox.destination = found->internal_url;
  Result<std::unique_ptr<Outbox>> made = Outbox::create(outbox, *parts->sink, clock, parts->outbox_random);
  if (!made) return fail(std::move(made.error()));
  parts->outbox = *std::move(made);
  parts->events = std::make_unique<TaskEvents>(*parts->outbox, parts->redactor, clock, parts->order.repo_url,
                                               parts->options.observe);
  parts->agent = std::make_unique<AgentRun>(parts->order, *parts->events, clock);
  return std::unique_ptr<TaskRun>(new TaskRun(std::move(parts)));
}

TaskRun::TaskRun(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TaskRun::~TaskRun() = default;

const TaskOrder& TaskRun::order() const {
  return parts_->order;
}
void TaskRun::command(const Command& command) {
  parts_->agent->command(command);
}
void TaskRun::end(EndCause cause, std::string message) {
  parts_->agent->end(cause, std::move(message));
}
void TaskRun::kill() {
  parts_->agent->kill();
}
bool TaskRun::can(CommandKind kind) const {
  return parts_->agent->can(kind);
}

TaskOutcome TaskRun::run() {
  Parts& parts = *parts_;
  AgentRun& agent = *parts.agent;
  SHEPHERD_ASSERT(parts.feed == nullptr, "a task is run once");
  const std::string& task = parts.order.task;
  CommandTaker taker{.take = [&agent](const Command& command) { agent.command(command); },
                     .withdraw = [&agent](const std::string& id) { agent.withdraw(id); },
                     .deleted = [&agent] { agent.end(EndCause::deleted, ""); }};
  parts.feed = std::make_unique<CommandFollower>(parts.runner.locate, task, std::move(taker), *parts.runner.clock,
                                                 parts.feed_random, parts.runner.tls);
  if (parts.options.lease) {
    parts.options.lease->when_lost([&agent] {
      agent.end(EndCause::lease_lost, "the server gave this task up");
      agent.kill();
    });
  }
  if (!parts.options.remark.empty()) parts.events->log(parts.options.remark);
  AgentOutcome outcome = run_agent();
  TaskOutcome told{outcome.state, outcome.message, outcome.cause, std::nullopt, "", "", agent.hints().cost_usd, {}};
  tell_end(outcome, told);
  told.drained = parts.outbox->drain(parts.options.drain);
  tell_undeliverable(told);
  if (parts.options.lease) parts.options.lease->drop();
  parts.feed.reset();
  return told;
}

AgentOutcome TaskRun::run_agent() {
  Parts& parts = *parts_;
  // A service works elsewhere and only gets the repository's address.
  if (parts.options.agent.remote) return parts.agent->run(parts.options.agent);
  if (parts.options.workspace.kind == WorkspaceKind::clone) {
    parts.events->status(State::starting, "Cloning " + parts.order.repo_url);
  }
  ProgramStop& stop = parts.agent->preparation();
  parts.options.workspace.stop = &stop;
  Result<Workspace> workspace = Workspace::prepare(parts.order, parts.options.workspace, *parts.runner.clock);
  if (!workspace) {
    if (!stop.stopped()) parts.events->error("no_workspace", workspace.error().message);
    return parts.agent->never_started(workspace.error().message);
  }
  parts.workspace.emplace(*std::move(workspace));
  AgentSettings settings = parts.options.agent;
  settings.directory = parts.workspace->directory();
  for (const std::string& variable : parts.workspace->environment()) settings.environment.push_back(variable);
  settings.rules = parts.workspace->rules();
  // These files are in a hidden directory beside the tree.
  for (const std::string& variable : parts.workspace->environment()) {
    settings.confinement.readable.push_back(variable.substr(variable.find('=') + 1));
  }
  if (settings.version.empty()) settings.version = version_of(settings);
  return parts.agent->run(std::move(settings));
}

std::string TaskRun::version_of(const AgentSettings& settings) {
  Parts& parts = *parts_;
  std::unique_ptr<Driver> driver = make_driver(settings.driver.empty() ? parts.order.agent : settings.driver);
  if (driver == nullptr || parts.runner.versions == nullptr) return {};
  AgentSpec question;
  question.command = driver->version_command(settings.program);
  if (question.command.empty()) return {};
  question.environment = settings.environment;
  question.directory = settings.directory;
  question.with_stdin = false;
  question.warden_program = settings.warden_program;
  question.confinement = settings.confinement;
  return parts.runner.versions->ask(question, *parts.runner.clock, &parts.agent->preparation());
}

void TaskRun::tell_end(const AgentOutcome& outcome, TaskOutcome& told) {
  Parts& parts = *parts_;
  told.pr_url = parts.events->pr_url();
  if (parts.workspace) {
    told.directory = parts.workspace->directory();
    told.work = parts.workspace->collect();
    bool own_tree = parts.workspace->kind() != WorkspaceKind::as_is;
    if (told.work && (own_tree || !told.work->empty() || !told.pr_url.empty())) {
      parts.events->result(work_summary(*told.work), work_data(*told.work, told.directory, told.pr_url));
    }
  }
  std::string summary(name(outcome.state));
  if (!outcome.message.empty()) summary += ": " + outcome.message;
  parts.events->status(outcome.state, summary, end_members(outcome, told.pr_url));
}

// Whatever its agent did, the task was deleted or belongs to another runner.
void TaskRun::tell_undeliverable(TaskOutcome& told) {
  bool superseded = told.drained.status.state == OutboxState::superseded;
  if (!superseded && told.drained.status.state != OutboxState::orphaned) return;
  told.state = superseded ? State::failed : State::cancelled;
  told.cause = superseded ? EndCause::lease_lost : EndCause::deleted;
  told.message = superseded ? "another runner has this task" : "the task was deleted";
  if (Result<std::string> aside = Spool::set_aside(told.drained.spool_path)) {
    told.drained.spool_path = *std::move(aside);
  } else {
    log_warn("{}", aside.error().message);
  }
}

}  // namespace shepherd
