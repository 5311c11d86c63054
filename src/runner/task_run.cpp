#include "runner/task_run.h"

#include <unistd.h>

#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "driver/registry/registry.h"
#include "outbox/spool.h"
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

// Reports a lost lease to its keeper: the agent must stop at once, not at the next renewal.
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

TaskRun::TaskRun(TaskOrder order, TaskRunOptions options, RunnerParts shared, Redactor redactor)
    : order_(std::move(order)),
      options_(std::move(options)),
      runner_(std::move(shared)),
      redactor_(std::move(redactor)) {}
TaskRun::~TaskRun() = default;

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

  std::unique_ptr<TaskRun> run(
      new TaskRun(std::move(order), std::move(options), std::move(shared), *std::move(redactor)));
  const Clock& clock = *run->runner_.clock;
  const std::optional<KeptLease>& lease = run->options_.lease;
  OutboxOptions outbox{run->options_.spool_directory, run->order_.task, "", lease ? lease->claim().epoch : 0};
  run->sink_ = make_server_sink(run->runner_.locate, run->runner_.tls, outbox.lease);
  if (lease) run->sink_ = std::make_unique<LeasedSink>(std::move(run->sink_), *lease);
  if (Result<Destination> found = run->runner_.locate()) outbox.destination = found->internal_url;
  Result<std::unique_ptr<Outbox>> made = Outbox::create(outbox, *run->sink_, clock, run->outbox_random_);
  if (!made) return fail(std::move(made.error()));
  run->outbox_ = *std::move(made);
  run->events_ =
      std::make_unique<TaskEvents>(*run->outbox_, run->redactor_, clock, run->order_.repo_url, run->options_.observe);
  run->agent_ = std::make_unique<AgentRun>(run->order_, *run->events_, clock);
  return run;
}

TaskOutcome TaskRun::run() {
  AgentRun& agent = *agent_;
  const std::string& task = order_.task;
  CommandTaker taker{.take = [&agent](const Command& command) { agent.command(command); },
                     .withdraw = [&agent](const std::string& id) { agent.withdraw(id); },
                     .deleted = [&agent] { agent.end(EndCause::deleted, ""); }};
  feed_ = std::make_unique<CommandFollower>(runner_.locate, task, std::move(taker), *runner_.clock, feed_random_,
                                            runner_.tls);
  if (options_.lease) {
    options_.lease->when_lost([&agent] {
      agent.end(EndCause::lease_lost, "the server gave this task up");
      agent.kill();
    });
  }
  if (!options_.remark.empty()) events_->log(options_.remark);
  AgentOutcome outcome = run_agent();
  TaskOutcome told{outcome.state, outcome.message, outcome.cause, std::nullopt, "", "", agent.hints().cost_usd, {}};
  tell_end(outcome, told);
  told.drained = outbox_->drain(options_.drain);
  tell_undeliverable(told);
  if (options_.lease) options_.lease->drop();
  feed_.reset();
  return told;
}

AgentOutcome TaskRun::run_agent() {
  // A service works elsewhere: it is told where the repository is.
  if (options_.agent.remote) return agent_->run(options_.agent);
  if (options_.workspace.kind == WorkspaceKind::clone) {
    events_->status(State::starting, "Cloning " + order_.repo_url);
  }
  ProgramStop& stop = agent_->preparation();
  options_.workspace.stop = &stop;
  Result<Workspace> workspace = Workspace::prepare(order_, options_.workspace, *runner_.clock);
  if (!workspace) {
    if (!stop.stopped()) events_->error("no_workspace", workspace.error().message);
    return agent_->never_started(workspace.error().message);
  }
  workspace_.emplace(*std::move(workspace));
  AgentSettings settings = options_.agent;
  settings.directory = workspace_->directory();
  for (const std::string& variable : workspace_->environment()) settings.environment.push_back(variable);
  settings.rules = workspace_->rules();
  // Beside the tree, so among what is hidden.
  for (const std::string& variable : workspace_->environment()) {
    settings.confinement.readable.push_back(variable.substr(variable.find('=') + 1));
  }
  if (settings.version.empty()) settings.version = version_of(settings);
  return agent_->run(std::move(settings));
}

std::string TaskRun::version_of(const AgentSettings& settings) {
  std::unique_ptr<Driver> driver = make_driver(settings.driver.empty() ? order_.agent : settings.driver);
  if (driver == nullptr || runner_.versions == nullptr) return {};
  AgentSpec question;
  question.command = driver->version_command(settings.program);
  if (question.command.empty()) return {};
  question.environment = settings.environment;
  question.directory = settings.directory;
  question.with_stdin = false;
  question.warden_program = settings.warden_program;
  question.confinement = settings.confinement;
  return runner_.versions->ask(question, *runner_.clock, &agent_->preparation());
}

void TaskRun::tell_end(const AgentOutcome& outcome, TaskOutcome& told) {
  told.pr_url = events_->pr_url();
  if (workspace_) {
    told.directory = workspace_->directory();
    told.work = workspace_->collect();
    bool own_tree = workspace_->kind() != WorkspaceKind::as_is;
    if (told.work && (own_tree || !told.work->empty() || !told.pr_url.empty())) {
      events_->result(work_summary(*told.work), work_data(*told.work, told.directory, told.pr_url));
    }
  }
  std::string summary(name(outcome.state));
  if (!outcome.message.empty()) summary += ": " + outcome.message;
  events_->status(outcome.state, summary, end_members(outcome, told.pr_url));
}

// The task was deleted or is another runner's, so the agent's own outcome does not count.
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
