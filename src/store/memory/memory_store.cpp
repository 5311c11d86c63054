#include "store/memory/memory_store.h"

#include <algorithm>
#include <utility>

#include "model/wire_json.h"
#include "store/limits.h"
#include "store/memory/memory_txn.h"
#include "store/page_limit.h"
#include "store/task_match.h"
#include "store/unknown_task.h"

namespace shepherd {

MemoryStore::MemoryStore(std::function<Fault()> faults) : faults_(std::move(faults)) {}
MemoryStore::~MemoryStore() = default;

std::string MemoryStore::Log::complete() const {
  return is_terminal(head.state.state) ? complete_data(spec.id, head.state) : std::string();
}

TaskRow MemoryStore::Log::row() const {
  return {info_of(spec), head.state, created_ms};
}

const MemoryStore::Log* MemoryStore::find(const std::string& task) const {
  auto log = logs_.find(task);
  return log == logs_.end() ? nullptr : &log->second;
}

Result<Commit> MemoryStore::write(const std::function<void(WriteTxn&)>& operations) {
  MemoryTxn txn(*this);
  operations(txn);
  Fault fault = faults_ ? faults_() : Fault::none;
  if (fault == Fault::fail_before_commit) {
    return fail(ErrorCode::unavailable, "io_error", "The transaction was rolled back.");
  }
  Commit commit = txn.commit();
  if (fault == Fault::fail_after_commit) {
    return fail(ErrorCode::unavailable, "io_error", "Whether the transaction was committed is not known.");
  }
  return commit;
}

Result<Page> MemoryStore::read(const std::string& task, std::uint64_t after, ReadLimit limit) const {
  MutexLock lock(mutex_);
  const Log* log = find(task);
  if (!log) return unknown_task(task);
  Page page;
  page.first = log->head.state.first_sequence;
  page.head = log->head.state.last_sequence;
  page.complete = log->complete();
  auto batch = std::upper_bound(log->batches.begin(), log->batches.end(), after,
                                [](std::uint64_t n, const StoredBatch& stored) { return n < stored.batch->last(); });
  PageLimit room(limit);
  for (; batch != log->batches.end() &&
         room.take(batch->batch->last() - std::max(after, batch->batch->first - 1), batch->batch->bytes.size());
       ++batch) {
    page.batches.push_back(batch->batch);
  }
  return page;
}

Result<Page> MemoryStore::read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const {
  MutexLock lock(mutex_);
  const Log* log = find(task);
  if (!log) return unknown_task(task);
  Page page;
  page.first = log->head.state.first_sequence;
  page.head = log->head.state.last_sequence;
  page.complete = log->complete();
  if (before == 0) before = page.head + 1;
  PageLimit room(limit);
  for (auto batch = log->batches.rbegin(); batch != log->batches.rend(); ++batch) {
    if (batch->batch->first >= before) continue;
    if (!room.take(std::min(before, batch->batch->last() + 1) - batch->batch->first, batch->batch->bytes.size())) break;
    page.batches.push_back(batch->batch);
  }
  std::reverse(page.batches.begin(), page.batches.end());
  return page;
}

Result<Page> MemoryStore::read_all(std::uint64_t after, ReadLimit limit) const {
  MutexLock lock(mutex_);
  Page page;
  page.head = position_;
  if (!by_position_.empty()) page.first = by_position_.begin()->second.batch->position;
  PageLimit room(limit);
  for (auto batch = by_position_.upper_bound(after); batch != by_position_.end(); ++batch) {
    const EventBatch& found = *batch->second.batch;
    if (!room.take(found.last_position() - std::max(after, found.position - 1), found.bytes.size())) break;
    page.batches.push_back(batch->second.batch);
  }
  return page;
}

Result<std::map<std::string, std::uint64_t>> MemoryStore::heads(const std::vector<std::string>& tasks) const {
  MutexLock lock(mutex_);
  std::map<std::string, std::uint64_t> heads;
  for (const std::string& id : tasks) {
    if (id.empty()) {
      heads[id] = position_;
    } else if (const Log* log = find(id)) {
      heads[id] = log->head.state.last_sequence;
    }
  }
  return heads;
}

Result<Place> MemoryStore::newest_place() const {
  MutexLock lock(mutex_);
  return Place{position_, change_};
}

Result<ChangePage> MemoryStore::changes(Place after, ReadLimit limit) const {
  auto batches = read_all(after.position, limit);
  if (!batches) return fail(std::move(batches.error()));
  MutexLock lock(mutex_);
  ChangePage page;
  page.newest = {position_, change_};
  page.lost = !changes_.empty() && changes_.front().number > after.change + 1;
  if (page.lost) after.change = change_;
  page.batches = std::move(batches->batches);
  bool more_batches = !page.batches.empty() && page.batches.back()->last_position() < position_;
  std::size_t most = limit.events == 0 ? kMaxPageEvents : limit.events;
  auto first = std::ranges::upper_bound(changes_, after.change, {}, &Change::number);
  bool more_changes = static_cast<std::size_t>(changes_.end() - first) > most;
  auto last = more_changes ? first + static_cast<std::ptrdiff_t>(most) : changes_.end();
  page.changes.assign(first, last);
  align(page, after, more_batches, more_changes);
  return page;
}

Result<Task> MemoryStore::task(const std::string& id) const {
  MutexLock lock(mutex_);
  const Log* log = find(id);
  if (!log) return unknown_task(id);
  return log->task();
}

Result<TaskRow> MemoryStore::row(const std::string& id) const {
  MutexLock lock(mutex_);
  const Log* log = find(id);
  if (!log) return unknown_task(id);
  return log->row();
}

Result<std::vector<TaskRow>> MemoryStore::rows(const TaskFilter& filter) const {
  MutexLock lock(mutex_);
  auto place = task_place(filter.before);
  if (!place && !filter.before.empty()) {
    const Log* before = find(filter.before);
    if (!before) return unknown_task(filter.before);
    place = TaskPlace{before->created_ms, before->spec.id};
  }
  auto newer = [](const Log* a, const Log* b) {
    return std::pair(a->created_ms, std::string_view(a->spec.id)) >
           std::pair(b->created_ms, std::string_view(b->spec.id));
  };
  std::vector<const Log*> found;
  for (const auto& [id, log] : logs_) {
    if (place && std::pair(place->created_ms, std::string_view(place->id)) <=
                     std::pair(log.created_ms, std::string_view(log.spec.id))) {
      continue;
    }
    if (matches(filter, log.row(), &log.spec.description)) found.push_back(&log);
  }
  std::sort(found.begin(), found.end(), newer);
  if (found.size() > filter.limit) found.resize(filter.limit);
  std::vector<TaskRow> rows;
  rows.reserve(found.size());
  for (const Log* log : found) rows.push_back(log->row());
  return rows;
}

Result<std::string> MemoryStore::detail(const std::string& task, std::uint64_t sequence) const {
  MutexLock lock(mutex_);
  const Log* log = find(task);
  if (!log) return unknown_task(task);
  auto detail = log->details.find(sequence);
  if (detail == log->details.end()) {
    return fail(ErrorCode::not_found, "no_detail", "Event " + std::to_string(sequence) + " has no detail.");
  }
  return detail->second;
}

Result<std::optional<Checkpoint>> MemoryStore::checkpoint(const std::string& task, std::uint64_t at) const {
  MutexLock lock(mutex_);
  const Log* log = find(task);
  if (!log) return unknown_task(task);
  auto next = log->checkpoints.upper_bound(at);
  if (next == log->checkpoints.begin()) return std::nullopt;
  return std::prev(next)->second;
}

Result<std::map<std::string, std::string>> MemoryStore::records(const std::string& kind) const {
  MutexLock lock(mutex_);
  auto found = records_.find(kind);
  if (found == records_.end()) return std::map<std::string, std::string>();
  return found->second;
}

Result<std::vector<Lease>> MemoryStore::leases(LeaseKind kind) const {
  std::vector<Lease> found;
  MutexLock lock(mutex_);
  for (const auto& [key, lease] : leases_) {
    if (key.kind == kind) found.push_back(lease);
  }
  return found;
}

Result<std::vector<Lease>> MemoryStore::leases(LeaseKind kind, const std::string& name) const {
  auto found = leases(kind);
  if (found) std::erase_if(*found, [&](const Lease& lease) { return lease.key.name != name; });
  return found;
}

Result<std::string> MemoryStore::record(const std::string& kind, const std::string& key) const {
  auto all = records(kind);
  if (!all) return fail(std::move(all.error()));
  auto found = all->find(key);
  return found == all->end() ? std::string() : found->second;
}

Result<std::vector<BatchInfo>> MemoryStore::oldest_batches(std::size_t limit) const {
  MutexLock lock(mutex_);
  std::vector<BatchInfo> batches;
  for (const auto& [position, stored] : by_position_) {
    if (batches.size() == limit) break;
    const EventBatch& batch = *stored.batch;
    batches.push_back({batch.task, batch.first, batch.last(), batch.received_ms, batch.bytes.size()});
  }
  return batches;
}

Result<StoreStats> MemoryStore::stats() const {
  MutexLock lock(mutex_);
  StoreStats stats;
  stats.tasks = logs_.size();
  for (const auto& [position, stored] : by_position_) {
    stats.events += stored.batch->size();
    stats.bytes += stored.batch->bytes.size();
    stats.content_bytes = stats.bytes;
  }
  for (const auto& [id, log] : logs_) {
    for (const auto& [sequence, detail] : log.details) stats.detail_bytes += detail.size();
  }
  return stats;
}

}  // namespace shepherd
