// The reading half of SqliteStore. A read takes the committed head first and then a snapshot, which is at least as new.
// Batches beyond that head are left to the next read, so that head, completion and batches always match.
#include <sys/stat.h>

#include <algorithm>

#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/batch_codec.h"
#include "store/limits.h"
#include "store/page_limit.h"
#include "store/sqlite/batch_rows.h"
#include "store/sqlite/change_rows.h"
#include "store/sqlite/checkpoints.h"
#include "store/sqlite/lease_rows.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/task_row.h"
#include "store/task_match.h"
#include "store/unknown_task.h"

namespace shepherd {

namespace {

// Rows with the columns of a BatchWalk.
Result<BatchPtr> batch_of(const Statement& row, const std::string& task) {
  auto batch = std::make_shared<EventBatch>();
  batch->task = task;
  if (auto read = read_batch(row, *batch); !read) return fail(std::move(read.error()));
  return batch;
}

std::size_t most_batches(ReadLimit limit) {
  return limit.events == 0 ? kMaxPageEvents : limit.events;
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

}  // namespace

Result<LogBounds> SqliteStore::stored_bounds(Database& database, const std::string& task) const {
  auto row = database.use("SELECT key, projection FROM task WHERE id = ?", task);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  if (!*found) return unknown_task(task);
  TaskState projected = decode_task_state(row.bytes(1));
  return LogBounds{row.integer(0),
                   projected.first_sequence,
                   projected.last_sequence,
                   is_terminal(projected.state) ? complete_data(task, projected) : std::string(),
                   {}};
}

Result<Page> SqliteStore::read(const std::string& task, std::uint64_t after, ReadLimit limit) const {
  // One batch more than requested, because the first one may end before the requested range.
  auto head = committed_.bounds(task, {.number = after + 1, .upward = true, .batches = most_batches(limit) + 1});
  auto database = readers_->lease();
  Snapshot snapshot(*database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  if (!head) {
    auto stored = stored_bounds(*database, task);
    if (!stored) return fail(std::move(stored.error()));
    head = std::move(*stored);
  }
  Page page{{}, head->first, head->last, std::move(head->complete)};
  if (after >= head->last) return page;
  auto walk = BatchWalk::up(*database, head->key, after + 1, head->unplaced);
  PageLimit room(limit);
  while (!room.full()) {
    auto found = walk.next();
    if (!found) return fail(std::move(found.error()));
    if (!*found || (*found)->number(kBatchLast) > head->last) break;
    auto batch = batch_of(**found, task);
    if (!batch) return fail(std::move(batch.error()));
    if (!room.take((*batch)->last() - std::max(after, (*batch)->first - 1), (*batch)->bytes.size())) break;
    page.batches.push_back(std::move(*batch));
  }
  // Retention may have dropped batches between reading the head and taking the snapshot.
  if (page.batches.empty()) {
    page.first = 0;
  } else if (page.batches.front()->first > after + 1) {
    page.first = page.batches.front()->first;
  }
  return page;
}

Result<Page> SqliteStore::read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const {
  // 0 stands for the log's end; 0 - 1 wraps to the largest number.
  auto head = committed_.bounds(task, {.number = before - 1, .upward = false, .batches = most_batches(limit) + 1});
  auto database = readers_->lease();
  Snapshot snapshot(*database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  if (!head) {
    auto stored = stored_bounds(*database, task);
    if (!stored) return fail(std::move(stored.error()));
    head = std::move(*stored);
  }
  Page page{{}, head->first, head->last, std::move(head->complete)};
  if (before == 0 || before > head->last + 1) before = head->last + 1;
  if (before <= 1) return page;

  auto walk = BatchWalk::down(*database, head->key, before - 1, head->unplaced);
  PageLimit room(limit);
  while (!room.full()) {
    auto found = walk.next();
    if (!found) return fail(std::move(found.error()));
    if (!*found) break;
    const Statement& row = **found;
    if (row.number(kBatchLast) - row.number(kBatchCount) + 1 >= before) continue;
    auto batch = batch_of(row, task);
    if (!batch) return fail(std::move(batch.error()));
    if (!room.take(std::min(before, (*batch)->last() + 1) - (*batch)->first, (*batch)->bytes.size())) break;
    page.batches.push_back(std::move(*batch));
  }
  std::reverse(page.batches.begin(), page.batches.end());
  return page;
}

Result<Page> SqliteStore::read_all(std::uint64_t after, ReadLimit limit) const {
  Page page;
  page.head = committed_.totals().position;
  auto database = readers_->lease();
  Snapshot snapshot(*database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  {
    auto row = database->use(
        "SELECT run.position - run.count + 1 FROM run CROSS JOIN task ON task.key = run.task ORDER BY run.position"
        " LIMIT 1");
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (*found && row.number(0) <= page.head) page.first = row.number(0);
  }
  if (after >= page.head) return page;
  auto batches = read_batches(*database, after, page.head, limit);
  if (!batches) return fail(std::move(batches.error()));
  page.batches = std::move(*batches);
  return page;
}

Result<std::vector<BatchPtr>> SqliteStore::read_batches(Database& database, std::uint64_t after, std::uint64_t through,
                                                        ReadLimit limit) const {
  std::vector<BatchPtr> batches;
  auto row = database.use(
      "SELECT run.position, run.last, run.count, run.received_last, run.producer, run.producer_first,"
      " run.loose_first, run.lengths, run.events, task.id"
      " FROM run CROSS JOIN task ON task.key = run.task"
      " WHERE run.position > ? AND run.position <= ? ORDER BY run.position",
      after, through);
  PageLimit room(limit);
  while (!room.full()) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) break;
    auto batch = batch_of(row, row.text(kBatchEvents + 1));
    if (!batch) return fail(std::move(batch.error()));
    if (!room.take((*batch)->last_position() - std::max(after, (*batch)->position - 1), (*batch)->bytes.size())) break;
    batches.push_back(std::move(*batch));
  }
  return batches;
}

Result<Place> SqliteStore::newest_place() const {
  StoreTotals totals = committed_.totals();
  return Place{totals.position, totals.change};
}

Result<ChangePage> SqliteStore::changes(Place after, ReadLimit limit) const {
  ChangePage page;
  StoreTotals totals = committed_.totals();
  page.newest = {totals.position, totals.change};
  auto database = readers_->lease();
  Snapshot snapshot(*database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  auto oldest = oldest_change(*database);
  if (!oldest) return fail(std::move(oldest.error()));
  page.lost = *oldest > after.change + 1;
  if (page.lost) after.change = page.newest.change;
  auto batches = read_batches(*database, after.position, page.newest.position, limit);
  if (!batches) return fail(std::move(batches.error()));
  page.batches = std::move(*batches);
  std::size_t most = limit.events == 0 ? kMaxPageEvents : limit.events;
  auto changes = read_changes(*database, after.change, page.newest.change, most);
  if (!changes) return fail(std::move(changes.error()));
  page.changes = std::move(*changes);
  bool more_batches = !page.batches.empty() && page.batches.back()->last_position() < page.newest.position;
  align(page, after, more_batches, page.changes.size() == most);
  return page;
}

Result<std::map<std::string, std::uint64_t>> SqliteStore::heads(const std::vector<std::string>& tasks) const {
  std::map<std::string, std::uint64_t> heads;
  std::vector<const std::string*> elsewhere;
  for (const std::string& task : tasks) {
    if (task.empty()) {
      heads[task] = committed_.totals().position;
    } else if (auto last = committed_.last(task)) {
      heads[task] = *last;
    } else {
      elsewhere.push_back(&task);
    }
  }
  if (elsewhere.empty()) return heads;
  auto database = readers_->lease();
  for (const std::string* task : elsewhere) {
    auto row = database->use("SELECT last FROM task WHERE id = ?", *task);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (*found) heads[*task] = row.number(0);
  }
  return heads;
}

Result<TaskRow> SqliteStore::row(const std::string& id) const {
  if (RowPtr newest = committed_.row(id)) return *newest;
  auto database = readers_->lease();
  auto row = read_task_row(*database, id);
  if (!row) return fail(std::move(row.error()));
  if (!*row) return unknown_task(id);
  return std::move(**row);
}

Result<Task> SqliteStore::task(const std::string& id) const {
  auto newest = row(id);
  if (!newest) return fail(std::move(newest.error()));
  auto database = readers_->lease();
  auto spec = read_task_spec(*database, id);
  if (!spec) return fail(std::move(spec.error()));
  if (!*spec) return unknown_task(id);
  return Task{std::move(**spec), std::move(newest->state), newest->created_ms};
}

Result<std::vector<TaskRow>> SqliteStore::rows(const TaskFilter& filter) const {
  // SQL narrows the list by its columns; matches() makes the final decision on the newest state. Only a search for text
  // looks at the payload.
  bool payload = !filter.text.empty();
  std::string sql = std::string("SELECT ") + kRowColumns + (payload ? ", task_spec.spec" : "") + " FROM " + kRowTables +
                    (payload ? " JOIN task_spec ON task_spec.task = task.key" : "") + " WHERE true";
  auto place = task_place(filter.before);
  if (place) {
    sql += " AND (task.created, task.id) < (?5, ?1)";
  } else if (!filter.before.empty()) {
    sql += " AND (task.created, task.id) < (SELECT created, id FROM task WHERE id = ?1)";
  }
  if (filter.active) sql += " AND task.state NOT IN ('completed', 'failed', 'timed_out', 'cancelled')";
  if (filter.state) sql += " AND task.state = ?2";
  if (!filter.agent.empty()) sql += " AND task.agent = ?3";
  if (!filter.workflow.empty()) sql += " AND task.workflow <> '' AND task.workflow = ?4";
  sql += " ORDER BY task.created DESC, task.id DESC";

  auto database = readers_->lease();
  Snapshot snapshot(*database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  if (!place && !filter.before.empty()) {
    auto row = database->use("SELECT 1 FROM task WHERE id = ?", filter.before);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return unknown_task(filter.before);
  }
  auto row = database->prepare_once(sql);
  row.bind(1, std::string_view(place ? place->id : filter.before));
  row.bind(2, filter.state ? name(*filter.state) : std::string_view());
  row.bind(3, std::string_view(filter.agent));
  row.bind(4, std::string_view(filter.workflow));
  if (place) row.bind(5, place->created_ms);
  std::vector<TaskRow> rows;
  while (rows.size() < filter.limit) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) break;
    TaskRow task = row_of(row);
    RowPtr newest = committed_.row(task.spec.id);
    if (newest && newest->state.last_sequence >= task.state.last_sequence) task = *newest;
    std::string description = payload ? decode_task_spec(row.bytes(4)).description : std::string();
    if (matches(filter, task, &description)) rows.push_back(std::move(task));
  }
  return rows;
}

Result<std::string> SqliteStore::detail(const std::string& task, std::uint64_t sequence) const {
  auto head = committed_.bounds(task, {.number = sequence, .upward = true, .batches = 1});
  auto database = readers_->lease();
  Snapshot snapshot(*database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  if (!head) {
    auto stored = stored_bounds(*database, task);
    if (!stored) return fail(std::move(stored.error()));
    head = std::move(*stored);
  }
  auto walk = BatchWalk::up(*database, head->key, sequence, head->unplaced);
  auto batch = walk.next();
  if (!batch) return fail(std::move(batch.error()));
  if (*batch && (*batch)->number(kBatchLast) - (*batch)->number(kBatchCount) < sequence) {
    std::uint64_t position = (*batch)->number(kBatchPosition) - ((*batch)->number(kBatchLast) - sequence);
    auto row = database->use(
        "SELECT blob.bytes, blob.hash FROM detail JOIN blob ON blob.key = detail.blob WHERE detail.position = ?",
        position);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (*found) {
      auto content = details_.decompress(row.bytes(0));
      if (content && content_hash(*content) == row.bytes(1)) return content;
      return fail(ErrorCode::internal, "corrupt",
                  "The full content of event " + std::to_string(sequence) + " of " + task +
                      " is damaged on disk. The event itself can be read. `shepherd doctor` lists all damage; restore a"
                      " backup to get it back.");
    }
  }
  return fail(ErrorCode::not_found, "no_detail", "Event " + std::to_string(sequence) + " has no detail.");
}

Result<std::optional<Checkpoint>> SqliteStore::checkpoint(const std::string& task, std::uint64_t at) const {
  auto database = readers_->lease();
  std::int64_t key = 0;
  {
    auto row = database->use("SELECT key FROM task WHERE id = ?", task);
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return unknown_task(task);
    key = row.integer(0);
  }
  return read_checkpoint(*database, key, at);
}

Result<std::map<std::string, std::string>> SqliteStore::records(const std::string& kind) const {
  auto database = readers_->lease();
  auto row = database->use("SELECT key, value FROM record WHERE kind = ?", kind);
  std::map<std::string, std::string> records;
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return records;
    records[row.text(0)] = row.text(1);
  }
}

Result<std::string> SqliteStore::record(const std::string& kind, const std::string& key) const {
  auto database = readers_->lease();
  return read_record(*database, kind, key);
}

Result<std::vector<Lease>> SqliteStore::leases(LeaseKind kind) const {
  auto database = readers_->lease();
  return read_leases(*database, kind);
}

Result<std::vector<Lease>> SqliteStore::leases(LeaseKind kind, const std::string& name) const {
  auto database = readers_->lease();
  return read_leases(*database, kind, name);
}

Result<std::vector<BatchInfo>> SqliteStore::oldest_batches(std::size_t limit) const {
  auto database = readers_->lease();
  auto row = database->use(
      "SELECT task.id, run.last - run.count + 1, run.last, run.received_last, run.lengths"
      " FROM run CROSS JOIN task ON task.key = run.task ORDER BY run.position LIMIT ?",
      static_cast<std::uint64_t>(limit));
  std::vector<BatchInfo> batches;
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return batches;
    auto index = read_index(row.bytes(4));
    if (!index) return fail(std::move(index.error()));
    batches.push_back({row.text(0), row.number(1), row.number(2), row.integer(3), index->bytes});
  }
}

Result<StoreStats> SqliteStore::stats() const {
  StoreTotals totals = committed_.totals();
  StoreStats stats;
  stats.events = totals.events;
  stats.detail_bytes = totals.detail_bytes;
  auto database = readers_->lease();
  auto row = database->use("SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM leftover)");
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  stats.tasks = row.number(0);
  stats.leftover_tasks = row.number(1);
  auto used = database->use(
      "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count,"
      " pragma_page_size");
  found = used.step();
  if (!found) return fail(std::move(found.error()));
  stats.content_bytes = used.number(0);
  stats.wal_bytes = file_bytes(path_ + "-wal");
  stats.bytes = file_bytes(path_) + stats.wal_bytes + file_bytes(path_ + "-shm");
  return stats;
}

}  // namespace shepherd
