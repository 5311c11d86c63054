#include "cli/local_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "cli/known_agents.h"
#include "cli/task_names.h"
#include "config/agent_confinement.h"
#include "config/config_agents.h"
#include "driver/claude/launch_options.h"
#include "driver/grpc/dialect.h"
#include "hooks/hook_delivery.h"
#include "host/version.h"
#include "json/scan.h"
#include "outbox/deliver_spool.h"
#include "runner/runner_api.h"

namespace shepherd {

ExitCode exit_code_of(State state) {
  switch (state) {
    case State::completed:
      return ExitCode::ok;
    case State::timed_out:
      return ExitCode::task_timed_out;
    case State::cancelled:
      return ExitCode::task_cancelled;
    default:
      return ExitCode::task_failed;
  }
}

std::string machine_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

AgentSettings agent_settings(const Config& config, const std::string& agent) {
  AgentSettings settings;
  settings.environment = agent_environment();
  if (std::optional<AgentEntry> entry = agent_entry(config, agent)) {
    settings.driver = entry->driver;
    if (const RemoteAgent* remote = entry->remote()) {
      settings.remote = *remote;
      if (remote->dialect) settings.options.emplace(kDialectOption, name(*remote->dialect));
    }
    if (const ProgramAgent* program = entry->program()) {
      settings.program = program->command.front();
      if (program->command.size() > 1) settings.command = program->command;
      for (const auto& [name, value] : program->environment)
        settings.environment.push_back(fmt::format("{}={}", name, value));
      settings.secrets = secrets_of(*program);
    }
  }
  if (settings.driver == "claude") {
    settings.options.emplace(kOutputFormatOption, config.observability_enabled
                                                      ? std::string_view(config.claude_output_format)
                                                      : name(OutputFormat::text));
  }
  settings.prices = config.prices;
  settings.confinement = agent_confinement(config, process_environment());
  settings.ladder.interrupt_wait = std::chrono::milliseconds(config.stop_interrupt_ms);
  settings.ladder.close_wait = std::chrono::milliseconds(config.stop_sigint_ms);
  settings.ladder.terminate_wait = std::chrono::milliseconds(config.stop_sigterm_ms);
  return settings;
}

LocalRunner::LocalRunner(const Config& config, const RunHost& host, net::ClientTls tls)
    : config_(config),
      locate_([&host] { return host.locate(); }),
      tls_(std::move(tls)),
      runner_("run-" + make_sortable_id(clock_.wall_ms(), random_)),
      leases_(locate_, tls_, RunnerCard{runner_, {}, {}, 0, kVersion, machine_name()},
              LeaseKeeper::Present::with_leases, clock_),
      commands_(locate_, tls_, clock_, random_) {}

Result<TaskOrder> LocalRunner::create(ApiClient& api, const RunRequest& request) {
  Result<CreatedTask> created = api.create_task(creation_body(request, runner_));
  // A run never continues another one, even with the same request.
  if (created ? created->existed : created.error().reason == "task_exists") {
    return fail(ErrorCode::conflict, "task_exists",
                fmt::format("the task {} exists already; choose another --id", request.id));
  }
  if (!created) return fail(std::move(created.error()));
  TaskOrder order;
  order.task = created->task.id;
  order.agent = request.command.empty() ? request.agent : "text";
  order.command = request.command;
  order.description = request.prompt;
  order.context = request.context;
  order.model = request.model;
  order.mode = agent_mode(request.mode).value_or(AgentMode::interactive);
  order.max_turns = request.max_turns;
  order.budget_usd = request.budget_usd;
  order.timeout_seconds = request.timeout_seconds;
  order.allowed_tools = request.allowed_tools;
  return order;
}

Result<RunRequest> LocalRunner::resolved(ApiClient& api, const RunRequest& request) {
  RunRequest out = request;
  if (request.resume_of.empty()) return out;
  Result<TaskView> earlier = find_task(api, request.resume_of);
  if (!earlier) return fail(std::move(earlier.error()));
  if (string_value(find_member(earlier->json, "sessionID")).value_or("").empty()) {
    return fail(
        ErrorCode::invalid_argument, "no_session",
        fmt::format("the task {} has no conversation to go on with; leave --resume out to begin anew", earlier->id));
  }
  if (!request.agent_given && !earlier->agent.empty()) out.agent = earlier->agent;
  std::string own = session_keeper_of(config_, out.agent), other = session_keeper_of(config_, earlier->agent);
  if (!own.empty() && !other.empty() && own != other) {
    return fail(ErrorCode::invalid_argument, "other_agent",
                fmt::format("{} cannot go on with the conversation of task {}, which {} has; use --agent {}, or leave "
                            "--resume out to begin anew",
                            out.agent, earlier->id, earlier->agent, earlier->agent));
  }
  out.resume_of = earlier->id;
  return out;
}

Result<std::unique_ptr<TaskRun>> LocalRunner::start(const RunRequest& request, Observe observe) {
  Result<Destination> destination = locate_();
  if (!destination) return fail(std::move(destination.error()));
  Result<ApiClient> api = ApiClient::create(*destination, tls_);
  if (!api) return fail(std::move(api.error()));
  Result<RunRequest> checked = resolved(*api, request);
  if (!checked) return fail(std::move(checked.error()));
  if (Result<void> here = check_program(config_, *checked); !here) return fail(std::move(here.error()));
  Result<TaskOrder> order = create(*api, *checked);
  if (!order) return fail(std::move(order.error()));

  RunnerApi server(locate_, tls_);
  TaskRunOptions options;
  Result<std::optional<TaskClaim>> claim = server.claim({runner_, {order->agent}, {}, 0, order->task});
  if (claim && *claim) {
    options.lease.emplace(leases_, **claim);
  } else if (!claim && claim.error().code != ErrorCode::not_found) {
    return fail(std::move(claim.error()));
  }
  std::string task = order->task;
  Result<std::unique_ptr<TaskRun>> run =
      prepare(server, *checked, *std::move(order), std::move(options), std::move(observe));
  // No other runner can claim the task, so this one must report its failure.
  if (!run && claim && *claim) {
    if (Result<void> told = server.end_unstarted(**claim, State::failed, run.error().message); !told) {
      log_warn("{}: {}", task, told.error().message);
    }
  }
  return run;
}

Result<std::unique_ptr<TaskRun>> LocalRunner::prepare(RunnerApi& server, const RunRequest& request, TaskOrder order,
                                                      TaskRunOptions options, Observe observe) {
  if (!request.resume_of.empty()) {
    Result<TaskOrder> full = server.order(order.task);
    if (!full) return fail(std::move(full.error()));
    order.resume_session = full->resume_session;
  }
  options.agent = agent_settings(config_, order.agent);
  if (!request.program.empty()) {
    options.agent.program = request.program;
    if (!options.agent.command.empty()) options.agent.command.front() = request.program;
  }
  if (request.command.empty() && !request.address.empty()) options.agent.remote.emplace().address = request.address;
  options.agent.keep_open = request.keep_open;
  for (const auto& [name, value] : request.environment) {
    options.agent.environment.push_back(fmt::format("{}={}", name, value));
  }
  std::error_code error;
  options.workspace.directory = request.directory.empty()
                                    ? std::filesystem::current_path(error).string()
                                    : std::filesystem::absolute(request.directory, error).lexically_normal().string();
  options.workspace.kind = request.worktree ? WorkspaceKind::worktree : WorkspaceKind::as_is;
  options.workspace.workspaces = config_.data + "/workspaces";
  options.workspace.rules = config_.rules;
  options.observe = std::move(observe);
  options.spool_directory = spool_directory();
  options.redact = config_.redact;
  return TaskRun::create(std::move(order), std::move(options),
                         {locate_, tls_, &commands_, &versions_, &clock_, &dialects_});
}

void LocalRunner::command(TaskRun& run, Command command) {
  command.id = "terminal-" + make_sortable_id(clock_.wall_ms(), random_);
  RunnerApi server(locate_, tls_);
  Result<void> taken = server.command(run.order().task, encode_command(command));
  if (taken) return;
  spdlog::debug("the server did not take a command: {}", taken.error().message);
  run.command(command);
}

PendingDelivered LocalRunner::deliver_pending(const std::vector<PendingSpool>& spools, const std::stop_token& stop) {
  PendingDelivered all;
  for (const PendingSpool& spool : spools) {
    if (stop.stop_requested()) return all;
    if (spool.in_use) continue;
    Result<Delivered> done = deliver_spool(spool, locate_, tls_, clock_);
    if (!done) continue;
    all.events += done->events;
    if (!done->set_aside.empty()) all.set_aside.push_back(done->set_aside);
    if (done->stuck) return all;
  }
  if (Result<std::uint64_t> calls = deliver_hook_calls(own_hook_route(config_.data), stop)) all.events += *calls;
  return all;
}

}  // namespace shepherd
