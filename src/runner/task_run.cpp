#include "runner/task_run.h"

#include <unistd.h>

#include <utility>

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

TaskRun::TaskRun(TaskRunOptions options, const RunnerParts& shared, std::unique_ptr<TaskSession> session)
    : settings_(std::move(options.agent)),
      remark_(std::move(options.remark)),
      versions_(shared.versions),
      dialects_(shared.dialects),
      session_(std::move(session)),
      agent_(std::make_unique<AgentRun>(session_->order(), session_->events(), session_->clock())) {}
TaskRun::~TaskRun() = default;

Result<std::unique_ptr<TaskRun>> TaskRun::create(TaskOrder order, TaskRunOptions options, RunnerParts shared) {
  if (auto& remote = options.agent.remote) {
    for (std::string& value : secrets_of(*remote)) options.redact.secrets.push_back(std::move(value));
    SystemRandom random;
    if (remote->traceparent.empty()) remote->traceparent = make_traceparent(random);
  }
  for (std::string& value : options.agent.secrets) options.redact.secrets.push_back(std::move(value));
  SessionOptions& session_options = options;
  session_options.environment = std::move(options.agent.environment);
  Result<std::unique_ptr<TaskSession>> session =
      TaskSession::create(std::move(order), std::move(session_options), shared);
  if (!session) return fail(std::move(session.error()));
  options.agent.environment = (*session)->environment();
  return std::unique_ptr<TaskRun>(new TaskRun(std::move(options), shared, *std::move(session)));
}

TaskOutcome TaskRun::run() {
  session_->open(*agent_);
  if (!remark_.empty()) session_->events().log(remark_);
  AgentOutcome outcome = run_agent();
  TaskOutcome told{outcome.state, outcome.message, outcome.cause, std::nullopt, "", "", agent_->hints().cost_usd, {}};
  tell_end(outcome, told);
  told.drained = session_->close();
  tell_undeliverable(told);
  return told;
}

AgentOutcome TaskRun::run_agent() {
  // A service works elsewhere and only gets the repository's address.
  if (settings_.remote) return run_service();
  ProgramStop& stop = agent_->preparation();
  if (Result<void> prepared = session_->prepare_workspace(stop); !prepared) {
    if (!stop.stopped()) session_->events().error("no_workspace", prepared.error().message);
    return agent_->never_started(prepared.error().message);
  }
  const Workspace& workspace = *session_->workspace();
  AgentSettings settings = settings_;
  settings.directory = workspace.directory();
  settings.rules = workspace.rules();
  for (const std::string& variable : workspace.environment()) {
    settings.environment.push_back(variable);
    // These files are in a hidden directory beside the tree.
    settings.confinement.readable.push_back(variable.substr(variable.find('=') + 1));
  }
  if (settings.version.empty()) settings.version = version_of(settings);
  return agent_->run(std::move(settings));
}

AgentOutcome TaskRun::run_service() {
  AgentSettings settings = settings_;
  if (dialects_ != nullptr) dialects_->add_to(settings.options, settings.remote->address);
  AgentOutcome outcome = agent_->run(std::move(settings));
  bool answered = agent_->hints().records > 0;
  if (answered && dialects_ != nullptr) dialects_->answered(outcome.options, settings_.remote->address);
  return outcome;
}

std::string TaskRun::version_of(const AgentSettings& settings) {
  std::unique_ptr<Driver> driver = make_driver(settings.driver.empty() ? order().agent : settings.driver);
  if (driver == nullptr || versions_ == nullptr) return {};
  AgentSpec question;
  question.command = driver->version_command(settings.program);
  if (question.command.empty()) return {};
  question.environment = settings.environment;
  question.directory = settings.directory;
  question.with_stdin = false;
  question.warden_program = settings.warden_program;
  question.confinement = settings.confinement;
  return versions_->ask(question, session_->clock(), &agent_->preparation());
}

void TaskRun::tell_end(const AgentOutcome& outcome, TaskOutcome& told) {
  told.pr_url = session_->events().pr_url();
  if (const std::optional<Workspace>& workspace = session_->workspace()) {
    told.directory = workspace->directory();
    told.work = workspace->collect();
    bool own_tree = workspace->kind() != WorkspaceKind::as_is;
    if (told.work && (own_tree || !told.work->empty() || !told.pr_url.empty())) {
      session_->events().result(work_summary(*told.work), work_data(*told.work, told.directory, told.pr_url));
    }
  }
  std::string summary(name(outcome.state));
  if (!outcome.message.empty()) summary += ": " + outcome.message;
  session_->events().status(outcome.state, summary, end_members(outcome, told.pr_url));
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
