#include "steering/command_takers.h"

#include <utility>
#include <vector>

#include "base/assert.h"
#include "steering/limits.h"
#include "store/lease_fence.h"

namespace shepherd {

Result<bool> has_taker(WriteTxn& txn, const TaskRow& task) {
  if (is_leased(task.state)) return true;
  for (const std::string& name : {task.spec.id, std::string(), taker_of_agent(task.spec.agent)}) {
    auto takers = txn.leases(LeaseKind::taker, name);
    if (!takers) return fail(std::move(takers.error()));
    if (!takers->empty()) return true;
  }
  return false;
}

void CommandTakers::opened(const std::string& task) {
  {
    MutexLock lock(mutex_);
    if (++feeds_[task] > 1) return;
  }
  put(task);
}

void CommandTakers::put(const std::string& task) {
  rounds_.watch(key_of(task), clock_.now_ms() + kTakerSeconds * 1'000);
  journal_.write(
      [this, task](WriteTxn& txn) -> Result<void> {
        auto now_ms = clock_.now_in(txn);
        if (!now_ms) return fail(std::move(now_ms.error()));
        return txn.put_lease({key_of(task), 0, *now_ms + kTakerSeconds * 1'000, false, ""});
      },
      [this, task](Result<void> written) {
        if (written) return;
        MutexLock lock(mutex_);
        unwritten_.insert(task);
      });
}

void CommandTakers::closed(const std::string& task) {
  {
    MutexLock lock(mutex_);
    auto found = feeds_.find(task);
    SHEPHERD_ASSERT(found != feeds_.end(), "a feed is closed once, after it was opened");
    if (--found->second > 0) return;
    feeds_.erase(found);
    unwritten_.erase(task);
  }
  rounds_.forget(key_of(task));
  // If this fails, the lease ends by itself.
  journal_.write([key = key_of(task)](WriteTxn& txn) { return txn.end_lease(key); }, [](Result<void>) {});
}

bool CommandTakers::is_open(const std::string& task) const {
  MutexLock lock(mutex_);
  return feeds_.contains(task);
}

void CommandTakers::tick() {
  std::vector<std::string> to_put, to_renew;
  bool renews = clock_.now_ms() - renewed_ms_ >= kTakerSeconds * 1'000 / 3;
  if (renews) renewed_ms_ = clock_.now_ms();
  {
    MutexLock lock(mutex_);
    to_put.assign(unwritten_.begin(), unwritten_.end());
    unwritten_.clear();
    if (renews) {
      for (const auto& [task, count] : feeds_) to_renew.push_back(task);
    }
  }
  for (const std::string& task : to_put) put(task);
  for (const std::string& task : to_renew) rounds_.renew(key_of(task), 0, kTakerSeconds * 1'000);
}

void CommandTakers::restore(const LeaseKey& key) {
  if (key.holder == process_ && is_open(key.name)) put(key.name);
}

}  // namespace shepherd
