#include "store/sqlite/check.h"

#include <functional>
#include <utility>

#include "base/limits.h"
#include "model/task_fold.h"
#include "sqlite/database.h"
#include "store/batch_fold.h"
#include "store/detail_codec.h"
#include "store/sqlite/batch_rows.h"
#include "store/sqlite/limits.h"
#include "store/sqlite/read_pool.h"
#include "store/sqlite/schema.h"

namespace shepherd {

namespace {

class Check {
 public:
  explicit Check(Database& database) : database_(database) {}

  std::vector<std::string> run() {
    for (auto part : {&Check::structure, &Check::places, &Check::tasks, &Check::strays, &Check::details,
                      &Check::contents, &Check::counters}) {
      // An unreadable part is a problem; the other parts may still be sound.
      if (auto done = (this->*part)(); !done) problem(done.error().message);
    }
    return std::move(problems_);
  }

 private:
  void problem(std::string text) {
    if (problems_.size() < kMaxCheckProblems) problems_.push_back(std::move(text));
  }

  Result<void> each(Statement row, const std::function<void(const Statement&)>& look) {
    for (;;) {
      auto found = row.step();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return {};
      look(row);
    }
  }

  Result<void> each_batch(std::int64_t task, const std::function<void(const Statement&)>& look) {
    auto walk = BatchWalk::up(database_, task, 1, unplaced_[task]);
    for (;;) {
      auto found = walk.next();
      if (!found) return fail(std::move(found.error()));
      if (!*found) return {};
      look(**found);
    }
  }

  Result<void> structure() {
    return each(database_.use("PRAGMA integrity_check"), [&](const Statement& row) {
      if (row.bytes(0) != "ok") problem(row.text(0));
    });
  }

  // A batch without a place would be invisible, and a place without its batch would be a hole.
  Result<void> places() {
    auto unplaced = unplaced_batches(database_);
    if (!unplaced) return fail(std::move(unplaced.error()));
    unplaced_ = std::move(*unplaced);
    auto done = each(database_.use("SELECT run.position FROM run LEFT JOIN run_place AS place"
                                   " ON place.task = run.task AND place.last = run.last"
                                   " WHERE run.position <= (SELECT value FROM meta WHERE name = 'placed_through')"
                                   " AND place.position IS NOT run.position"),
                     [&](const Statement& row) { problem("batch " + row.text(0) + " is not in its task's log"); });
    if (!done) return done;
    return each(database_.use("SELECT place.position FROM run_place AS place LEFT JOIN run"
                              " ON run.position = place.position"
                              " WHERE run.task IS NOT place.task OR run.last IS NOT place.last"),
                [&](const Statement& row) { problem("there is no batch " + row.text(0) + ", but a log names it"); });
  }

  Result<void> tasks() {
    return each(database_.use("SELECT key, id, state, first, last, projection FROM task"),
                [&](const Statement& row) { log(row); });
  }

  // Checks one task: its numbers, its events, its projection.
  void log(const Statement& task) {
    std::string id = task.text(1);
    TaskState projected = decode_task_state(task.bytes(5));
    if (task.bytes(2) != name(projected.state) || task.number(3) != projected.first_sequence ||
        task.number(4) != projected.last_sequence) {
      problem(id + ": its columns differ from its projection");
    }
    TaskState folded;
    bool whole = true, readable = true;
    std::uint64_t next = 0;
    auto done = each_batch(task.integer(0), [&](const Statement& row) {
      EventBatch batch;
      batch.task = id;
      batch.first = row.number(kBatchLast) - row.number(kBatchCount) + 1;
      if (next == 0) {
        whole = batch.first == 1;
        if (batch.first != projected.first_sequence) problem(id + ": its log does not start where its row says");
        next = batch.first;
      }
      if (batch.first != next) problem(id + ": events are missing before number " + std::to_string(batch.first));
      next = row.number(kBatchLast) + 1;
      if (auto read = read_batch(row, batch); !read) {
        problem(id + ": the batch that ends with number " + std::to_string(row.number(kBatchLast)) +
                " is damaged: " + read.error().message);
        readable = false;
      }
      // The store folds events newer than the projection when it opens.
      if (!readable || !whole || batch.first > projected.last_sequence) return;
      compare_checkpoints(task.integer(0), batch, folded);
      if (auto applied = fold_batch(folded, batch); !applied) {
        problem(applied.error().message);
        readable = false;
      }
    });
    if (!done) problem(id + ": " + done.error().message);
    if (next == 0 && projected.first_sequence != 0) problem(id + ": its log is gone");
    if (next != 0 && next <= projected.last_sequence) problem(id + ": the end of its log is missing");
    if (readable && whole && next != 0 && encode_task_state(folded) != encode_task_state(projected)) {
      problem(id + ": its projection is not what its log says");
    }
  }

  // Folds the batch up to each of its checkpoints and compares them.
  void compare_checkpoints(std::int64_t task, const EventBatch& batch, TaskState& folded) {
    auto done = each(database_.use("SELECT sequence, state FROM checkpoint WHERE task = ? AND sequence BETWEEN ? AND ?",
                                   task, batch.first, batch.last()),
                     [&](const Statement& row) {
                       if (!fold_batch(folded, batch, row.number(0))) return;  // the caller reports it
                       if (encode_task_state(decode_task_state(row.bytes(1))) == encode_task_state(folded)) return;
                       problem(batch.task + ": the state kept for event " + row.text(0) + " is not what its log says");
                     });
    if (!done) problem(batch.task + ": " + done.error().message);
  }

  Result<void> strays() {
    auto done = each(database_.use("SELECT position FROM run WHERE task NOT IN (SELECT key FROM task)"
                                   " AND task NOT IN (SELECT task FROM leftover)"),
                     [&](const Statement& row) { problem("batch " + row.text(0) + " belongs to no task"); });
    if (!done) return done;
    done =
        each(database_.use("SELECT DISTINCT task FROM checkpoint WHERE task NOT IN (SELECT key FROM task)"
                           " AND task NOT IN (SELECT task FROM leftover)"),
             [&](const Statement& row) { problem("states are kept for the task " + row.text(0) + ", which is gone"); });
    if (!done) return done;
    done = each(database_.use("SELECT id FROM task WHERE key IN (SELECT task FROM leftover)"),
                [&](const Statement& row) { problem(row.text(0) + ": it is also marked as deleted"); });
    if (!done) return done;
    std::uint64_t before = 0;
    return each(database_.use("SELECT position, count FROM run ORDER BY position"), [&](const Statement& row) {
      if (row.number(0) - row.number(1) < before) problem("batch " + row.text(0) + " overlaps the one before it");
      before = row.number(0);
    });
  }

  Result<void> details() {
    auto done = each(database_.use("SELECT position FROM detail WHERE blob NOT IN (SELECT key FROM blob)"),
                     [&](const Statement& row) { problem("the detail at " + row.text(0) + " has no content"); });
    if (!done) return done;
    return each(database_.use("SELECT key FROM blob LEFT JOIN (SELECT blob, count(*) AS used FROM detail GROUP BY blob)"
                              " ON blob = key WHERE refs <> coalesce(used, 0)"),
                [&](const Statement& row) { problem("content " + row.text(0) + " is counted wrongly"); });
  }

  Result<void> contents() {
    DetailCodec codec;
    return each(database_.use("SELECT key, hash, bytes FROM blob"), [&](const Statement& row) {
      auto content = codec.decompress(row.bytes(2));
      if (!content || content_hash(*content) != row.bytes(1)) problem("content " + row.text(0) + " is damaged");
    });
  }

  Result<void> counters() {
    return each(database_.use("SELECT (SELECT value FROM meta WHERE name = 'events') - coalesce(sum(count), 0) FROM run"
                              " WHERE position <= (SELECT value FROM meta WHERE name = 'projected_through')"
                              " AND task NOT IN (SELECT task FROM leftover)"),
                [&](const Statement& row) {
                  if (row.integer(0) != 0) problem("the number of kept events is off by " + row.text(0));
                });
  }

  Database& database_;
  UnplacedBatches unplaced_;
  std::vector<std::string> problems_;
};

}  // namespace

Result<std::vector<std::string>> check_store(const std::string& database_file) {
  auto database = Database::open(database_file, OpenMode::read_write, kBusyWait);
  if (!database) return fail(std::move(database.error()));
  if (auto done = configure_reader(**database, kReaderCacheBytes); !done) return fail(std::move(done.error()));
  auto version = schema_version(**database);
  if (!version) return fail(std::move(version.error()));
  if (*version < 1) return fail(bad_schema_version(**database, *version));
  if (*version != kSchemaVersion) {
    return fail(ErrorCode::internal, "newer_schema",
                database_file + " has schema version " + std::to_string(*version) + "; this program checks version " +
                    std::to_string(kSchemaVersion) + ".");
  }
  Snapshot snapshot(**database);
  if (auto begun = snapshot.begin(); !begun) return fail(std::move(begun.error()));
  return Check(**database).run();
}

}  // namespace shepherd
