#include "runner/task_session.h"

#include <utility>

#include "runner/git.h"

namespace shepherd {
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

// The agent's own telemetry, if it is switched on, then finds its task, also before its stream has named the session.
void name_task_in_telemetry(std::vector<std::string>& environment, const std::string& task) {
  constexpr std::string_view kAttributes = "OTEL_RESOURCE_ATTRIBUTES=";
  std::string named = "shepherd.task=" + task;
  for (std::string& variable : environment) {
    if (!variable.starts_with(kAttributes)) continue;
    if (variable.size() > kAttributes.size()) variable.push_back(',');
    variable.append(named);
    return;
  }
  environment.push_back(std::string(kAttributes) + named);
}

}  // namespace

TaskSession::TaskSession(TaskOrder order, SessionOptions options, RunnerParts shared, Redactor redactor)
    : order_(std::move(order)),
      options_(std::move(options)),
      runner_(std::move(shared)),
      redactor_(std::move(redactor)) {}
TaskSession::~TaskSession() = default;

Result<std::unique_ptr<TaskSession>> TaskSession::create(TaskOrder order, SessionOptions options, RunnerParts shared) {
  std::vector<std::string>& environment = options.environment;
  environment.push_back("SHEPHERD_TASK_ID=" + order.task);
  name_task_in_telemetry(environment, order.task);
  for (std::string& variable : git_credentials(options.repository_token, order.repo_url))
    environment.push_back(std::move(variable));
  options.workspace.environment = environment;
  RedactOptions redact = options.redact;
  for (std::string& value : secret_values(environment)) redact.secrets.push_back(std::move(value));
  Result<Redactor> redactor = Redactor::create(redact);
  if (!redactor) return fail(std::move(redactor.error()));

  std::unique_ptr<TaskSession> session(
      new TaskSession(std::move(order), std::move(options), std::move(shared), *std::move(redactor)));
  const std::optional<KeptLease>& lease = session->options_.lease;
  OutboxOptions outbox{session->options_.spool_directory, session->order_.task, "", lease ? lease->claim().epoch : 0};
  session->sink_ = make_server_sink(session->runner_.locate, session->runner_.tls, outbox.lease);
  if (lease) session->sink_ = std::make_unique<LeasedSink>(std::move(session->sink_), *lease);
  if (Result<Destination> found = session->runner_.locate()) outbox.destination = found->internal_url;
  Result<std::unique_ptr<Outbox>> made =
      Outbox::create(outbox, *session->sink_, session->clock(), session->outbox_random_);
  if (!made) return fail(std::move(made.error()));
  session->outbox_ = *std::move(made);
  session->events_ = std::make_unique<TaskEvents>(*session->outbox_, session->redactor_, session->clock(),
                                                  session->order_.repo_url, session->options_.observe);
  return session;
}

void TaskSession::open(Step& step) {
  CommandTaker taker{.take = [&step](const Command& command) { step.command(command); },
                     .withdraw = [&step](const std::string& id) { step.withdraw(id); },
                     .deleted = [&step] { step.end(EndCause::deleted, ""); }};
  commands_.emplace(*runner_.commands, order_.task, std::move(taker));
  if (!options_.lease) return;
  options_.lease->when_lost([&step] {
    step.end(EndCause::lease_lost, "the server gave this task up");
    step.kill();
  });
}

Drained TaskSession::close() {
  Drained drained = outbox_->drain(options_.drain);
  if (options_.lease) options_.lease->drop();
  commands_.reset();
  return drained;
}

Result<void> TaskSession::prepare_workspace(ProgramStop& stop) {
  if (workspace_kind() == WorkspaceKind::clone) events_->status(State::starting, "Cloning " + order_.repo_url);
  options_.workspace.stop = &stop;
  Result<Workspace> workspace = Workspace::prepare(order_, options_.workspace, clock());
  if (!workspace) return fail(std::move(workspace.error()));
  workspace_.emplace(*std::move(workspace));
  return {};
}

}  // namespace shepherd
