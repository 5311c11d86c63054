#include "runner/runner_pool.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "model/json_write.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

PoolOptions named(PoolOptions options, const Clock& clock) {
  SystemRandom random;
  if (options.runner.empty()) options.runner = "runner-" + make_sortable_id(clock.wall_ms(), random);
  return options;
}

}  // namespace

RunnerPool::RunnerPool(PoolOptions options, Locate locate, net::ClientTls tls, const Clock& clock)
    : options_(named(std::move(options), clock)),
      locate_(std::move(locate)),
      tls_(std::move(tls)),
      clock_(clock),
      leases_(locate_, tls_, options_.runner, clock) {
  for (std::size_t i = 0; i < options_.slots; ++i) claims_.push_back(std::make_unique<RunnerApi>(locate_, tls_));
  for (std::size_t i = 0; i < options_.slots; ++i) threads_.emplace_back([this, i] { work(*claims_[i]); });
}

RunnerPool::~RunnerPool() {
  end("the runner was stopped");
  for (std::thread& thread : threads_) thread.join();
}

void RunnerPool::end(const std::string& why) {
  MutexLock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  // The runs outlive this: a slot takes its own out of the table, under the lock, before it ends.
  for (const auto& [task, run] : runs_) run->end(EndCause::shutdown, why);
  for (const auto& claim : claims_) claim->cancel();  // a question for work may wait for long
}

std::size_t RunnerPool::running() const {
  MutexLock lock(mutex_);
  return busy_;
}

Result<void> RunnerPool::assign(const std::string& task) {
  {
    MutexLock lock(mutex_);
    if (ending_ || busy_ >= options_.slots) {
      return fail(ErrorCode::conflict, "busy", "this runner is busy; try again later or ask another one");
    }
    ++busy_;
  }
  RunnerApi api(locate_, tls_);
  Result<void> known = knows_agent_of(api, task);
  Result<std::optional<TaskClaim>> claim = known
                                               ? api.claim({options_.runner, options_.agents, options_.labels, 0, task})
                                               : Result<std::optional<TaskClaim>>(fail(std::move(known.error())));
  MutexLock lock(mutex_);
  if (claim && *claim) {
    assigned_.push_back(**claim);
    changed_.notify_all();
    return {};
  }
  --busy_;
  if (!claim) return fail(std::move(claim.error()));
  return fail(ErrorCode::conflict, "not_claimable", "the server does not give this task to this runner");
}

// Before the claim: one that is claimed and cannot be run has failed, and a task that is somebody else's to run, or
// that nobody runs, must not.
Result<void> RunnerPool::knows_agent_of(RunnerApi& api, const std::string& task) const {
  Result<TaskOrder> order = api.order(task);
  if (!order) return fail(std::move(order.error()));
  if (!order->agent.empty() && std::ranges::find(options_.agents, order->agent) != options_.agents.end()) return {};
  return fail(ErrorCode::invalid_argument, "unknown_agent",
              order->agent.empty() ? "the task has no agent: somebody posts its events, and no runner can run it"
                                   : "this runner does not run the agent \"" + order->agent + "\"");
}

bool RunnerPool::pause() {
  std::int64_t until_ms = clock_.steady_ms() + kClaimPause.count();
  MutexLock lock(mutex_);
  while (!ending_ && assigned_.empty()) {
    std::int64_t left_ms = until_ms - clock_.steady_ms();
    if (left_ms <= 0) break;
    changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return !ending_;
}

void RunnerPool::work(RunnerApi& claims) {
  RunnerApi api(locate_, tls_);
  for (;;) {
    std::optional<TaskClaim> mine;
    {
      MutexLock lock(mutex_);
      if (ending_ && assigned_.empty()) return;
      if (!assigned_.empty()) {
        mine = std::move(assigned_.back());
        assigned_.pop_back();
      }
    }
    if (mine) {
      run(api, *mine);
    } else if (!options_.claims || !claim_next(claims, api)) {
      if (!pause()) return;
    }
  }
}

// False: it makes sense to wait before asking again.
bool RunnerPool::claim_next(RunnerApi& claims, RunnerApi& api) {
  Result<std::optional<TaskClaim>> claim =
      claims.claim({options_.runner, options_.agents, options_.labels, kClaimSeconds, ""});
  if (!claim) {
    spdlog::debug("no work could be asked for: {}", claim.error().message);
    return false;
  }
  if (!*claim) return true;
  {
    MutexLock lock(mutex_);
    ++busy_;
  }
  run(api, **claim);
  return true;
}

void RunnerPool::run(RunnerApi& api, const TaskClaim& claim) {
  Result<std::unique_ptr<TaskRun>> prepared = prepare(api, claim);
  if (prepared) {
    TaskRun& run = **prepared;
    bool too_late = false;
    {
      MutexLock lock(mutex_);
      runs_[claim.task] = &run;
      too_late = ending_;
    }
    if (too_late) run.end(EndCause::shutdown, "the runner was stopped");
    TaskOutcome outcome = run.run();
    if (outcome.cause == EndCause::deleted) {
      log_info("{} was deleted; what was left of its log is set aside in {}", claim.task, outcome.drained.spool_path);
    } else if (!outcome.drained.spool_path.empty()) {
      log_warn("{}: the server does not have all of its log; the rest is in {}", claim.task,
               outcome.drained.spool_path);
    }
    MutexLock lock(mutex_);
    runs_.erase(claim.task);
  } else {
    log_warn("{} could not be started: {}", claim.task, prepared.error().message);
    tell_failure(claim, prepared.error());
  }
  MutexLock lock(mutex_);
  --busy_;
}

Result<std::unique_ptr<TaskRun>> RunnerPool::prepare(RunnerApi& api, const TaskClaim& claim) {
  Result<TaskOrder> order = api.order(claim.task);
  if (!order) return fail(std::move(order.error()));
  TaskRunOptions options;
  options.claim = claim;
  options.agent = options_.settings(order->agent);
  options.workspace.workspaces = options_.data_directory + "/workspaces";
  if (order->repo_url.empty()) {
    options.workspace.directory = options.workspace.workspaces + "/" + order->task + "/tree";
    std::error_code error;
    std::filesystem::create_directories(options.workspace.directory, error);
  } else {
    options.workspace.kind = WorkspaceKind::clone;
    Result<std::string> token = api.token(claim.task);
    // A public repository needs none.
    if (!token && token.error().reason != "no_token_provider" && token.error().code != ErrorCode::not_found) {
      return fail(std::move(token.error()));
    }
    options.repository_token = token.value_or("");
  }
  options.spool_directory = options_.data_directory + "/spool";
  options.redact = options_.redact;
  options.workspace.rules = options_.rules;
  return TaskRun::create(*std::move(order), std::move(options), {locate_, tls_, &leases_, &versions_, &clock_});
}

// Nothing has started that could tell it.
void RunnerPool::tell_failure(const TaskClaim& claim, const Error& error) {
  Result<Destination> found = locate_();
  Result<ApiClient> api = found ? ApiClient::create(*found, tls_) : Result<ApiClient>(fail(found.error()));
  if (!api) return;
  std::string event = R"({"type":"status","summary":"failed: the task could not be started","data":{"state":"failed",)";
  std::string message;
  {
    JsonObject object(message);
    object.text("message", error.message);
  }
  event.append(message, 1, message.size() - 1).append("}\n");
  if (Result<Posted> posted = api->post_events(claim.task, event); !posted) {
    log_warn("{}: {}", claim.task, posted.error().message);
  }
}

}  // namespace shepherd
