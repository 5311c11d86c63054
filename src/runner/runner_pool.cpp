#include "runner/runner_pool.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/ids.h"
#include "base/log.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

PoolOptions named(PoolOptions options, const Clock& clock) {
  SystemRandom random;
  if (options.runner.empty()) options.runner = "runner-" + make_sortable_id(clock.wall_ms(), random);
  return options;
}

// A runner that takes only assigned tasks claims none of any agent.
RunnerCard card_of(const PoolOptions& options) {
  return {options.runner,  options.claims ? options.agents : std::vector<std::string>{},
          options.labels,  options.slots,
          options.version, options.machine};
}

}  // namespace

RunnerPool::RunnerPool(PoolOptions options, Locate locate, net::ClientTls tls, const Clock& clock)
    : options_(named(std::move(options), clock)),
      locate_(std::move(locate)),
      tls_(std::move(tls)),
      clock_(clock),
      leases_(locate_, tls_, card_of(options_), LeaseKeeper::Present::always, clock),
      commands_(locate_, tls_, clock, random_),
      courier_(options_.data_directory + "/spool", locate_, tls_, clock) {
  for (std::size_t i = 0; i < options_.slots; ++i) slots_.push_back(std::make_unique<Slot>(locate_, tls_));
  for (const auto& slot : slots_) threads_.emplace_back([this, mine = slot.get()] { work(*mine); });
}

RunnerPool::~RunnerPool() {
  end("the runner was stopped");
  for (std::thread& thread : threads_) thread.join();
}

void RunnerPool::end(const std::string& why) {
  MutexLock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  // The runs outlive this loop: a slot removes its own run from the table, under the lock, before it ends.
  for (const auto& [task, run] : runs_) run->end(EndCause::shutdown, why);
  // A claim or a token request may wait for a long time. The server takes back a task whose runner is gone.
  for (const auto& slot : slots_) {
    slot->claims.cancel();
    slot->api.cancel();
  }
}

std::size_t RunnerPool::running() const {
  MutexLock lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const auto& slot) { return slot->running || slot->reserved; }));
}

// Makes a waiting slot cancel its claim; a slot that got a task by that claim is not free. Returns null if all are
// busy.
RunnerPool::Slot* RunnerPool::reserve() {
  MutexLock lock(mutex_);
  for (const auto& slot : slots_) {
    if (ending_) return nullptr;
    if (slot->running || slot->reserved) continue;
    slot->reserved = true;
    slot->claims.cancel();
    changed_.notify_all();
    while (slot->asking) changed_.wait(mutex_);
    if (!slot->running) return slot.get();
    slot->reserved = false;
  }
  return nullptr;
}

Result<void> RunnerPool::assign(const std::string& task) {
  auto has_it = [&] {
    MutexLock lock(mutex_);
    return tasks_.contains(task);
  };
  if (has_it()) return {};
  Slot* slot = reserve();
  if (slot == nullptr) {
    if (has_it()) return {};  // the last slot got exactly this task
    return fail(ErrorCode::conflict, "busy", "this runner is busy; try again later or ask another one");
  }
  RunnerApi api(locate_, tls_);
  Result<void> known = knows_agent_of(api, task);
  Result<std::optional<TaskClaim>> claim = known
                                               ? api.claim({options_.runner, options_.agents, options_.labels, 0, task})
                                               : Result<std::optional<TaskClaim>>(fail(std::move(known.error())));
  MutexLock lock(mutex_);
  bool mine = claim && *claim && tasks_.insert(task).second;
  if (mine) {
    SHEPHERD_ASSERT(slot->reserved && !slot->assigned, "a slot is kept for one task");
    slot->assigned.emplace(leases_, **claim);
  } else {
    slot->reserved = false;
  }
  changed_.notify_all();
  if (!claim) return fail(std::move(claim.error()));
  if (!*claim) return fail(ErrorCode::conflict, "not_claimable", "the server does not give this task to this runner");
  return {};  // another slot may have got it meanwhile; it runs once
}

// Checked before the claim, because a claimed task that cannot run fails, and a task for another runner must not fail.
// An assigned task without an agent runs with whatever agent runs here.
Result<void> RunnerPool::knows_agent_of(RunnerApi& api, const std::string& task) const {
  Result<TaskOrder> order = api.order(task);
  if (!order) return fail(std::move(order.error()));
  if (order->agent.empty() || std::ranges::find(options_.agents, order->agent) != options_.agents.end()) return {};
  return fail(ErrorCode::invalid_argument, "unknown_agent",
              "this runner does not run the agent \"" + order->agent + "\"");
}

void RunnerPool::work(Slot& slot) {
  while (std::optional<KeptLease> lease = next(slot)) {
    std::string task = lease->claim().task;
    run(slot, *std::move(lease));
    MutexLock lock(mutex_);
    slot.running = false;
    tasks_.erase(task);
  }
}

// Returns the slot's next task, assigned or claimed; nullopt at the end.
std::optional<KeptLease> RunnerPool::next(Slot& slot) {
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!ending_ && !slot.assigned && (slot.reserved || !options_.claims)) changed_.wait(mutex_);
      if (slot.assigned) {
        slot.reserved = false;
        slot.running = true;
        return std::exchange(slot.assigned, std::nullopt);
      }
      if (ending_) return std::nullopt;
      slot.asking = true;
      slot.claims.resume();
    }
    if (std::optional<KeptLease> lease = ask(slot)) return lease;
  }
}

std::optional<KeptLease> RunnerPool::ask(Slot& slot) {
  Result<std::optional<TaskClaim>> claim =
      slot.claims.claim({options_.runner, options_.agents, options_.labels, kClaimSeconds, ""});
  MutexLock lock(mutex_);
  slot.asking = false;
  changed_.notify_all();
  if (claim && *claim) {
    // A task that arrives after the end, or is already here, does not run: no one renews its lease, so the server gives
    // it to another runner.
    if (ending_ || !tasks_.insert((*claim)->task).second) return std::nullopt;
    slot.running = true;
    return KeptLease(leases_, **claim);
  }
  if (claim || slot.reserved || ending_) return std::nullopt;
  spdlog::debug("no work could be asked for: {}", claim.error().message);
  std::int64_t until_ms = clock_.steady_ms() + kClaimPause.count();
  while (!ending_ && !slot.reserved && clock_.steady_ms() < until_ms) {
    changed_.wait_for(mutex_, std::chrono::milliseconds(std::max<std::int64_t>(until_ms - clock_.steady_ms(), 1)));
  }
  return std::nullopt;
}

void RunnerPool::run(Slot& slot, KeptLease lease) {
  TaskClaim claim = lease.claim();
  Result<std::unique_ptr<TaskRun>> prepared = prepare(slot.api, std::move(lease));
  if (!prepared) {
    log_warn("{} could not be started: {}", claim.task, prepared.error().message);
    return tell_failure(claim, prepared.error());
  }
  TaskRun& run = **prepared;
  bool too_late = false;
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(tasks_.contains(claim.task) && !runs_.contains(claim.task), "a task runs in one slot");
    runs_[claim.task] = &run;
    too_late = ending_;
  }
  if (too_late) run.end(EndCause::shutdown, "the runner was stopped");
  TaskOutcome outcome = run.run();
  const std::string& left = outcome.drained.spool_path;
  if (outcome.cause == EndCause::deleted) {
    log_info("{} was deleted; what was left of its log is set aside in {}", claim.task, left);
  } else if (outcome.drained.status.state == OutboxState::superseded) {
    log_warn("another runner has {}; what was done here is set aside in {}", claim.task, left);
  } else if (!left.empty()) {
    log_warn("{}: the server does not have all of its log; the rest is in {}", claim.task, left);
  }
  {
    MutexLock lock(mutex_);
    runs_.erase(claim.task);
  }
  prepared->reset();
  if (!left.empty()) courier_.look_again(left);
}

Result<std::unique_ptr<TaskRun>> RunnerPool::prepare(RunnerApi& api, KeptLease lease) {
  const TaskClaim claim = lease.claim();
  Result<TaskOrder> order = api.order(claim.task);
  if (!order) return fail(std::move(order.error()));
  // Only an assigned task may have no agent.
  if (order->agent.empty() && !options_.agents.empty()) order->agent = options_.agents.front();
  TaskRunOptions options;
  options.agent = options_.settings(order->agent);
  options.workspace.workspaces = options_.data_directory + "/workspaces";
  if (order->repo_url.empty()) {
    options.workspace.directory = options.workspace.workspaces + "/" + order->task + "/tree";
    std::error_code error;
    std::filesystem::create_directories(options.workspace.directory, error);
    if (!options.agent.remote) {
      options.remark =
          "This task names no repository: its agent works in a new, empty directory, " + options.workspace.directory;
    }
  } else {
    options.workspace.kind = WorkspaceKind::clone;
    if (takes_token(order->repo_url)) {
      Result<std::string> token = api.token(claim);
      // A public repository needs no token.
      if (!token && token.error().reason != "no_token_provider" && token.error().code != ErrorCode::not_found) {
        return fail(std::move(token.error()));
      }
      options.repository_token = token.value_or("");
    }
  }
  options.spool_directory = options_.data_directory + "/spool";
  options.redact = options_.redact;
  options.workspace.rules = options_.rules;
  options.lease = std::move(lease);
  return TaskRun::create(*std::move(order), std::move(options),
                         {locate_, tls_, &commands_, &versions_, &clock_, &dialects_});
}

// No run exists that could report the failure.
void RunnerPool::tell_failure(const TaskClaim& claim, const Error& error) {
  bool ending = false;
  {
    MutexLock lock(mutex_);
    ending = ending_;
  }
  RunnerApi api(locate_, tls_);
  Result<void> told = ending ? api.end_unstarted(claim, State::cancelled, "the runner was stopped")
                             : api.end_unstarted(claim, State::failed, error.message);
  if (!told) log_warn("{}: {}", claim.task, told.error().message);
}

}  // namespace shepherd
