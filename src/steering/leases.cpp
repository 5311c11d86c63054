#include "steering/leases.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "steering/limits.h"
#include "steering/server_event.h"
#include "store/lease_fence.h"

namespace shepherd {
namespace {

LeaseKey key_of(const std::string& task, const std::string& runner) {
  return {LeaseKind::task, task, runner};
}

// The claiming runner never reported, so another runner may get the task, a limited number of times. A task that only
// that runner may run would wait forever, so it does not go back.
bool goes_to_another(const TaskRow& task, const Lease& lease) {
  return !lease.heard && task.state.state == State::starting && task.state.claims < kMaxSilentClaims &&
         task.spec.runner.empty();
}

// Returns whether a runner lost its task.
Result<bool> lose_in(WriteTxn& txn, const LeaseKey& key, std::uint64_t epoch, std::int64_t service_ms,
                     std::int64_t wall_ms) {
  auto leases = txn.leases(key.kind, key.name);
  if (!leases) return fail(std::move(leases.error()));
  auto lease = std::ranges::find(*leases, key, &Lease::key);
  if (lease == leases->end() || lease->epoch != epoch || lease->until_ms > service_ms) return false;
  if (auto ended = txn.end_lease(key); !ended) return fail(std::move(ended.error()));
  auto task = txn.row(key.name);
  if (!task) return fail(std::move(task.error()));
  // The task ended, or another lease followed; then only the row was left.
  if (!is_leased(task->state) || task->state.lease_epoch != epoch) return false;
  std::string number = std::to_string(epoch);
  auto told = goes_to_another(*task, *lease)
                  ? txn.append(status_event(key.name, State::queued, key.holder + " took it and did not report again",
                                            {}, "given-back:" + number, wall_ms))
                  : txn.append(status_event(key.name, State::failed, "runner lost", {}, "lost:" + number, wall_ms));
  if (!told) return fail(std::move(told.error()));
  return true;
}

}  // namespace

Result<void> end_task_leases(WriteTxn& txn, const std::string& task) {
  auto leases = txn.leases(LeaseKind::task, task);
  if (!leases) return fail(std::move(leases.error()));
  for (const Lease& lease : *leases) {
    if (auto ended = txn.end_lease(lease.key); !ended) return ended;
  }
  return {};
}

Result<void> Leases::grant(WriteTxn& txn, const std::string& task, const std::string& runner, std::uint64_t epoch) {
  SHEPHERD_ASSERT(epoch > 0, "epoch 0 says that no runner has claimed the task");
  auto now_ms = service_.now_in(txn);
  if (!now_ms) return fail(std::move(now_ms.error()));
  if (auto ended = end_task_leases(txn, task); !ended) return ended;
  return txn.put_lease({key_of(task, runner), epoch, *now_ms + period_ms(), false, ""});
}

Result<void> Leases::restore(WriteTxn& txn, const TaskRow& task) {
  auto now_ms = service_.now_in(txn);
  if (!now_ms) return fail(std::move(now_ms.error()));
  const TaskState& state = task.state;
  LeaseKey key = key_of(task.spec.id, state.runner);
  auto renewed = txn.renew_lease({key, state.lease_epoch, *now_ms + period_ms(), false});
  if (!renewed) return fail(std::move(renewed.error()));
  if (*renewed) return {};
  // The runner of a task that has begun has reported.
  bool heard = state.state != State::starting;
  return txn.put_lease({key, state.lease_epoch, *now_ms + period_ms(), heard, ""});
}

void Leases::lose(const Lease& lease, std::function<void()> lost) {
  journal_.write(
      [this, key = lease.key, epoch = lease.epoch](WriteTxn& txn) -> Result<bool> {
        auto now_ms = service_.now_in(txn);
        if (!now_ms) return fail(std::move(now_ms.error()));
        return lose_in(txn, key, epoch, *now_ms, clock_.wall_ms());
      },
      [this, key = lease.key, lost = std::move(lost)](Result<bool> written) {
        // If it could not be written, the next round finds it again.
        if (!written)
          return log_warn("the lost runner of {} could not be noted: {}", key.name, written.error().message);
        rounds_.forget(key);
        if (*written) lost();
      });
}

void Leases::note(const TaskRow& task) {
  const std::string& id = task.spec.id;
  if (is_leased(task.state) && knows(id, task.state.lease_epoch)) return;
  forget(id);
  if (!is_leased(task.state)) return;
  rounds_.watch(key_of(id, task.state.runner), service_.now_ms() + period_ms());
  MutexLock lock(mutex_);
  held_[id] = {task.state.runner, task.state.lease_epoch};
  count_ = held_.size();
}

void Leases::forget(const std::string& task) {
  Held held;
  {
    MutexLock lock(mutex_);
    auto found = held_.find(task);
    if (found == held_.end()) return;
    held = std::move(found->second);
    held_.erase(found);
    count_ = held_.size();
  }
  rounds_.forget(key_of(task, held.runner));
}

void Leases::touch(const std::string& task) {
  touch(task, 0);
}

void Leases::touch(const std::string& task, std::uint64_t epoch) {
  if (size() == 0) return;
  Held held;
  {
    MutexLock lock(mutex_);
    auto found = held_.find(task);
    if (found == held_.end() || (epoch != 0 && found->second.epoch != epoch)) return;
    held = found->second;
  }
  rounds_.renew(key_of(task, held.runner), held.epoch, period_ms());
}

Result<void> Leases::renew(const TaskRow& task, std::uint64_t epoch, const std::string& runner) {
  const TaskState& state = task.state;
  if (!is_leased(state) || state.lease_epoch != epoch || (!runner.empty() && state.runner != runner)) {
    return fail(lease_lost());
  }
  rounds_.renew(key_of(task.spec.id, state.runner), epoch, period_ms());
  return {};
}

bool Leases::knows(const std::string& task, std::uint64_t epoch) const {
  MutexLock lock(mutex_);
  auto found = held_.find(task);
  return found != held_.end() && found->second.epoch == epoch;
}

std::set<std::string> Leases::runners() const {
  std::set<std::string> names;
  MutexLock lock(mutex_);
  for (const auto& [task, held] : held_) names.insert(held.runner);
  return names;
}

}  // namespace shepherd
