#include "store/sqlite/committed_heads.h"

#include "model/wire_json.h"

namespace shepherd {

std::optional<LogBounds> CommittedHeads::bounds(const std::string& task) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  if (head == heads_.end()) return std::nullopt;
  const TaskState& state = head->second.state;
  return LogBounds{head->second.key, state.first_sequence, state.last_sequence, head->second.complete};
}

std::optional<TaskState> CommittedHeads::state(const std::string& task) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  if (head == heads_.end()) return std::nullopt;
  return head->second.state;
}

std::optional<std::uint64_t> CommittedHeads::last(const std::string& task) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  if (head == heads_.end()) return std::nullopt;
  return head->second.state.last_sequence;
}

StoreTotals CommittedHeads::totals() const {
  MutexLock lock(mutex_);
  return totals_;
}

void CommittedHeads::commit(const std::vector<Change>& changes, const StoreTotals& totals) {
  MutexLock lock(mutex_);
  totals_ = totals;
  for (const Change& change : changes) {
    if (!change.state) {
      heads_.erase(*change.task);
      continue;
    }
    CommittedHead& head = heads_[*change.task];
    head.key = change.key;
    head.state = *change.state;
    if (is_terminal(head.state.state)) {
      Task task;
      task.spec.id = *change.task;
      task.state = head.state;
      head.complete = complete_data(task);
    } else {
      head.complete.clear();
    }
  }
}

void CommittedHeads::forget(const std::vector<std::string>& tasks) {
  MutexLock lock(mutex_);
  for (const std::string& task : tasks) heads_.erase(task);
}

}  // namespace shepherd
