#include "store/sqlite/committed_heads.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "model/wire_json.h"

namespace shepherd {

namespace {

std::vector<BatchPlace> part_of(const std::vector<BatchPlace>& batches, LogPart part) {
  auto holder = std::ranges::lower_bound(batches, part.number, {}, &BatchPlace::last);
  auto most = static_cast<std::ptrdiff_t>(std::min(part.batches, batches.size()));
  if (part.upward) return {holder, holder + std::min(most, batches.end() - holder)};
  auto end = holder == batches.end() ? holder : holder + 1;
  return {end - std::min(most, end - batches.begin()), end};
}

}  // namespace

std::optional<LogBounds> CommittedHeads::bounds(const std::string& task, LogPart part) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  if (head == heads_.end() || !head->second.row) return std::nullopt;
  const TaskState& state = head->second.row->state;
  return LogBounds{head->second.key, state.first_sequence, state.last_sequence, head->second.complete,
                   part_of(head->second.unplaced, part)};
}

std::vector<BatchPlace> CommittedHeads::unplaced(const std::string& task) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  return head == heads_.end() ? std::vector<BatchPlace>() : head->second.unplaced;
}

RowPtr CommittedHeads::row(const std::string& task) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  return head == heads_.end() ? nullptr : head->second.row;
}

std::optional<std::uint64_t> CommittedHeads::last(const std::string& task) const {
  MutexLock lock(mutex_);
  auto head = heads_.find(task);
  if (head == heads_.end() || !head->second.row) return std::nullopt;
  return head->second.row->state.last_sequence;
}

StoreTotals CommittedHeads::totals() const {
  MutexLock lock(mutex_);
  return totals_;
}

void CommittedHeads::commit(const std::vector<Change>& changes, const StoreTotals& totals) {
  MutexLock lock(mutex_);
  totals_ = totals;
  for (const Change& change : changes) {
    if (!change.row) {
      heads_.erase(*change.task);
      continue;
    }
    CommittedHead& head = heads_[*change.task];
    SHEPHERD_ASSERT(!head.row || change.row->state.last_sequence >= head.row->state.last_sequence,
                    "a log never gets shorter at its end");
    head.key = change.key;
    head.row = change.row;
    if (change.placed) head.unplaced.clear();
    head.unplaced.insert(head.unplaced.end(), change.unplaced.begin(), change.unplaced.end());
    if (is_terminal(head.row->state.state)) {
      head.complete = complete_data(*change.task, head.row->state);
    } else {
      head.complete.clear();
    }
  }
}

void CommittedHeads::load_unplaced(const std::string& task, std::vector<BatchPlace> batches) {
  MutexLock lock(mutex_);
  heads_[task].unplaced = std::move(batches);
}

void CommittedHeads::forget(const std::vector<std::string>& tasks) {
  MutexLock lock(mutex_);
  for (const std::string& task : tasks) heads_.erase(task);
}

}  // namespace shepherd
