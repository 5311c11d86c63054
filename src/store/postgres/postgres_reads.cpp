// The reading half of PostgresStore. Each read has one snapshot, so head, completion and batches always match.
#include <algorithm>

#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/batch_codec.h"
#include "store/limits.h"
#include "store/page_limit.h"
#include "store/postgres/batch_rows.h"
#include "store/postgres/lease_rows.h"
#include "store/postgres/limits.h"
#include "store/postgres/postgres_store.h"
#include "store/task_match.h"
#include "store/unknown_task.h"

namespace shepherd {

namespace {

// A task's key, and its log's bounds without batches.
struct Bounds {
  std::int64_t key = 0;
  Page page;
};

Result<Bounds> bounds_of(const PostgresPool::Reader& reader, const std::string& task) {
  auto rows = reader->run("SELECT key, projection FROM task WHERE id = $1", task);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) return unknown_task(task);
  TaskState state = decode_task_state(rows->bytes(0, 1));
  Page page{{},
            state.first_sequence,
            state.last_sequence,
            is_terminal(state.state) ? complete_data(task, state) : std::string()};
  return Bounds{rows->integer(0, 0), std::move(page)};
}

TaskRow row_in(const PostgresRows& rows, std::size_t row, int column) {
  return {decode_task_info(rows.bytes(row, column + 1)), decode_task_state(rows.bytes(row, column + 2)),
          rows.integer(row, column)};
}

std::uint64_t at_once() {
  return kPostgresBatchesARead;
}

// Reads batches of all logs in commit order.
Result<std::vector<BatchPtr>> read_positions(const PostgresPool::Reader& reader, std::uint64_t after,
                                             std::uint64_t through, ReadLimit limit) {
  std::vector<BatchPtr> batches;
  PageLimit room(limit);
  for (std::uint64_t from = after; !room.full();) {
    auto rows = reader->run("SELECT " SHEPHERD_BATCH_COLUMNS
                            ", task.id FROM batch JOIN task ON task.key = batch.task"
                            " WHERE batch.position > $1 AND batch.position <= $2 ORDER BY batch.position LIMIT $3",
                            from, through, at_once());
    if (!rows) return fail(std::move(rows.error()));
    for (std::size_t i = 0; i < rows->size(); ++i) {
      auto batch = batch_in(*rows, i, rows->text(i, kAfterBatch));
      if (!batch) return fail(std::move(batch.error()));
      from = (*batch)->last_position();
      std::uint64_t wanted = from - std::max(after, (*batch)->position - 1);
      if (!room.take(wanted, (*batch)->bytes.size())) return batches;
      batches.push_back(std::move(*batch));
    }
    if (rows->size() < at_once()) break;
  }
  return batches;
}

}  // namespace

Result<Page> PostgresStore::read(const std::string& task, std::uint64_t after, ReadLimit limit) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto bounds = bounds_of(*reader, task);
  if (!bounds) return fail(std::move(bounds.error()));
  Page& page = bounds->page;
  PageLimit room(limit);
  for (std::uint64_t from = after; from < page.head && !room.full();) {
    auto rows = (*reader)->run("SELECT " SHEPHERD_BATCH_COLUMNS
                               " FROM batch WHERE task = $1 AND last > $2 ORDER BY last LIMIT $3",
                               bounds->key, from, at_once());
    if (!rows) return fail(std::move(rows.error()));
    for (std::size_t i = 0; i < rows->size(); ++i) {
      auto batch = batch_in(*rows, i, task);
      if (!batch) return fail(std::move(batch.error()));
      from = (*batch)->last();
      if (!room.take(from - std::max(after, (*batch)->first - 1), (*batch)->bytes.size())) return std::move(page);
      page.batches.push_back(std::move(*batch));
    }
    if (rows->size() < at_once()) break;
  }
  return std::move(page);
}

Result<Page> PostgresStore::read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto bounds = bounds_of(*reader, task);
  if (!bounds) return fail(std::move(bounds.error()));
  Page& page = bounds->page;
  if (before == 0 || before > page.head + 1) before = page.head + 1;
  PageLimit room(limit);
  bool more = true;
  for (std::uint64_t below = before; more && below > 1 && !room.full();) {
    auto rows = (*reader)->run("SELECT " SHEPHERD_BATCH_COLUMNS
                               " FROM batch WHERE task = $1 AND last - count + 1 < $2 AND last < $2 + $4"
                               " ORDER BY last DESC LIMIT $3",
                               bounds->key, below, at_once(), std::uint64_t{kMaxStoredBatchEvents});
    if (!rows) return fail(std::move(rows.error()));
    for (std::size_t i = 0; more && i < rows->size(); ++i) {
      auto batch = batch_in(*rows, i, task);
      if (!batch) return fail(std::move(batch.error()));
      below = (*batch)->first;
      more = room.take(std::min(before, (*batch)->last() + 1) - below, (*batch)->bytes.size());
      if (more) page.batches.push_back(std::move(*batch));
    }
    more = more && rows->size() == at_once();
  }
  std::reverse(page.batches.begin(), page.batches.end());
  return std::move(page);
}

Result<Page> PostgresStore::read_all(std::uint64_t after, ReadLimit limit) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run(
      "SELECT position, coalesce((SELECT batch.position - batch.count + 1 FROM batch JOIN task ON task.key = batch.task"
      " ORDER BY batch.position LIMIT 1), 0) FROM counter");
  if (!rows) return fail(std::move(rows.error()));
  Page page;
  page.head = rows->number(0, 0);
  page.first = rows->number(0, 1);
  auto batches = read_positions(*reader, after, page.head, limit);
  if (!batches) return fail(std::move(batches.error()));
  page.batches = std::move(*batches);
  return page;
}

Result<std::map<std::string, std::uint64_t>> PostgresStore::heads(const std::vector<std::string>& tasks) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  std::string ids;  // an id has no line break
  for (const std::string& task : tasks) ids += task + "\n";
  (*reader)->send("SELECT position FROM counter");
  (*reader)->send("SELECT id, last FROM task WHERE id = ANY(string_to_array($1, E'\\n'))", ids);
  auto answers = (*reader)->collect();
  if (!answers) return fail(std::move(answers.error()));
  std::map<std::string, std::uint64_t> heads;
  if (std::ranges::find(tasks, "") != tasks.end()) heads[""] = answers->front().number(0, 0);
  const PostgresRows& rows = answers->back();
  for (std::size_t i = 0; i < rows.size(); ++i) heads[rows.text(i, 0)] = rows.number(i, 1);
  return heads;
}

Result<Place> PostgresStore::newest_place() const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run("SELECT position, change FROM counter");
  if (!rows) return fail(std::move(rows.error()));
  return Place{rows->number(0, 0), rows->number(0, 1)};
}

Result<ChangePage> PostgresStore::changes(Place after, ReadLimit limit) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  std::uint64_t most = limit.events == 0 ? kMaxPageEvents : limit.events;
  (*reader)->send("SELECT position, change, coalesce((SELECT min(number) FROM change), 0) FROM counter");
  (*reader)->send("SELECT number, after, kind, name, key FROM change WHERE number > $1 ORDER BY number LIMIT $2",
                  after.change, most);
  auto answers = (*reader)->collect();
  if (!answers) return fail(std::move(answers.error()));
  const PostgresRows& counter = answers->front();
  const PostgresRows& rows = answers->back();
  ChangePage page;
  page.newest = {counter.number(0, 0), counter.number(0, 1)};
  page.lost = counter.number(0, 2) > after.change + 1;
  if (page.lost) after.change = page.newest.change;
  auto batches = read_positions(*reader, after.position, page.newest.position, limit);
  if (!batches) return fail(std::move(batches.error()));
  page.batches = std::move(*batches);
  for (std::size_t i = 0; i < rows.size() && !page.lost; ++i) {
    page.changes.push_back({rows.number(i, 0), rows.number(i, 1), static_cast<ChangeKind>(rows.integer(i, 2)),
                            rows.text(i, 3), rows.text(i, 4)});
  }
  bool more_batches = !page.batches.empty() && page.batches.back()->last_position() < page.newest.position;
  align(page, after, more_batches, page.changes.size() == most);
  return page;
}

Result<TaskRow> PostgresStore::row(const std::string& id) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run("SELECT created, info, projection FROM task WHERE id = $1", id);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) return unknown_task(id);
  return row_in(*rows, 0, 0);
}

Result<Task> PostgresStore::task(const std::string& id) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run(
      "SELECT created, projection, spec FROM task JOIN task_spec ON task_spec.task = task.key WHERE id = $1", id);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) return unknown_task(id);
  return Task{decode_task_spec(rows->bytes(0, 2)), decode_task_state(rows->bytes(0, 1)), rows->integer(0, 0)};
}

Result<std::vector<TaskRow>> PostgresStore::rows(const TaskFilter& filter) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto place = task_place(filter.before);
  if (!place && !filter.before.empty()) {
    auto known = (*reader)->run("SELECT created FROM task WHERE id = $1", filter.before);
    if (!known) return fail(std::move(known.error()));
    if (known->empty()) return unknown_task(filter.before);
    place = TaskPlace{known->integer(0, 0), filter.before};
  }
  // SQL narrows the list by its columns; matches() makes the final decision. Only a search for text reads the payload.
  constexpr const char* kWhere =
      "SELECT created, info, projection, CASE WHEN $5 = 1 THEN"
      " (SELECT spec FROM task_spec WHERE task_spec.task = task.key) END FROM task"
      " WHERE (created, id) < ($1, $2) AND ($3 = '' OR state = $3) AND ($4 = '' OR agent = $4)"
      " AND ($6 = '' OR workflow = $6)"
      " AND ($7 = 0 OR state NOT IN ('completed', 'failed', 'timed_out', 'cancelled'))"
      " ORDER BY created DESC, id DESC LIMIT $8";
  bool payload = !filter.text.empty();
  TaskPlace from = place.value_or(TaskPlace{INT64_MAX, ""});
  std::string_view state = filter.state ? name(*filter.state) : std::string_view();
  std::vector<TaskRow> rows;
  while (rows.size() < filter.limit) {
    constexpr std::uint64_t kAtOnce = 200;
    auto found = (*reader)->run(kWhere, from.created_ms, from.id, state, filter.agent, payload ? 1 : 0, filter.workflow,
                                filter.active ? 1 : 0, kAtOnce);
    if (!found) return fail(std::move(found.error()));
    for (std::size_t i = 0; i < found->size() && rows.size() < filter.limit; ++i) {
      TaskRow row = row_in(*found, i, 0);
      from = {row.created_ms, row.spec.id};
      std::string description = payload ? decode_task_spec(found->bytes(i, 3)).description : std::string();
      if (matches(filter, row, &description)) rows.push_back(std::move(row));
    }
    if (found->size() < kAtOnce) break;
  }
  return rows;
}

Result<std::string> PostgresStore::detail(const std::string& task, std::uint64_t sequence) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto bounds = bounds_of(*reader, task);
  if (!bounds) return fail(std::move(bounds.error()));
  auto rows = (*reader)->run(
      "SELECT blob.bytes, blob.hash FROM detail JOIN blob ON blob.hash = detail.blob"
      " WHERE detail.task = $1 AND detail.sequence = $2",
      bounds->key, sequence);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) {
    return fail(ErrorCode::not_found, "no_detail", "Event " + std::to_string(sequence) + " has no detail.");
  }
  auto content = details_.decompress(rows->bytes(0, 0));
  if (content && content_hash(*content) == rows->bytes(0, 1)) return content;
  return fail(ErrorCode::internal, "corrupt",
              "The full content of event " + std::to_string(sequence) + " of " + task +
                  " is damaged in the database. The event itself can be read. Restore a backup to get it back.");
}

Result<std::optional<Checkpoint>> PostgresStore::checkpoint(const std::string& task, std::uint64_t at) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto bounds = bounds_of(*reader, task);
  if (!bounds) return fail(std::move(bounds.error()));
  auto rows = (*reader)->run(
      "SELECT state, whole FROM checkpoint WHERE task = $1 AND sequence <= $2 ORDER BY sequence DESC LIMIT 1",
      bounds->key, at);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty()) return std::nullopt;
  return Checkpoint{decode_task_state(rows->bytes(0, 0)), rows->integer(0, 1) != 0};
}

Result<std::map<std::string, std::string>> PostgresStore::records(const std::string& kind) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run("SELECT key, value FROM record WHERE kind = $1", kind);
  if (!rows) return fail(std::move(rows.error()));
  std::map<std::string, std::string> records;
  for (std::size_t i = 0; i < rows->size(); ++i) records[rows->text(i, 0)] = rows->text(i, 1);
  return records;
}

Result<std::string> PostgresStore::record(const std::string& kind, const std::string& key) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run("SELECT value FROM record WHERE kind = $1 AND key = $2", kind, key);
  if (!rows) return fail(std::move(rows.error()));
  return rows->empty() ? std::string() : rows->text(0, 0);
}

Result<std::vector<Lease>> PostgresStore::leases(LeaseKind kind) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run("SELECT " SHEPHERD_LEASE_COLUMNS " FROM lease WHERE kind = $1 ORDER BY name, holder",
                             static_cast<int>(kind));
  if (!rows) return fail(std::move(rows.error()));
  return leases_in(*rows);
}

Result<std::vector<Lease>> PostgresStore::leases(LeaseKind kind, const std::string& name) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows =
      (*reader)->run("SELECT " SHEPHERD_LEASE_COLUMNS " FROM lease WHERE kind = $1 AND name = $2 ORDER BY holder",
                     static_cast<int>(kind), name);
  if (!rows) return fail(std::move(rows.error()));
  return leases_in(*rows);
}

Result<std::vector<BatchInfo>> PostgresStore::oldest_batches(std::size_t limit) const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run(
      "SELECT task.id, batch.last - batch.count + 1, batch.last, batch.received_last, batch.lengths"
      " FROM batch JOIN task ON task.key = batch.task ORDER BY batch.position LIMIT $1",
      static_cast<std::uint64_t>(limit));
  if (!rows) return fail(std::move(rows.error()));
  std::vector<BatchInfo> batches;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    auto index = read_index(rows->bytes(i, 4));
    if (!index) return fail(std::move(index.error()));
    batches.push_back({rows->text(i, 0), rows->number(i, 1), rows->number(i, 2), rows->integer(i, 3), index->bytes});
  }
  return batches;
}

Result<StoreStats> PostgresStore::stats() const {
  auto reader = readers_.reader();
  if (!reader) return fail(std::move(reader.error()));
  auto rows = (*reader)->run(
      "SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM leftover), events, detail_bytes,"
      " (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class"
      "  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p'))"
      " FROM counter");
  if (!rows) return fail(std::move(rows.error()));
  StoreStats stats;
  stats.tasks = rows->number(0, 0);
  stats.leftover_tasks = rows->number(0, 1);
  stats.events = rows->number(0, 2);
  stats.detail_bytes = rows->number(0, 3);
  stats.bytes = stats.content_bytes = rows->number(0, 4);
  return stats;
}

}  // namespace shepherd
