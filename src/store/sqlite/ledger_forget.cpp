#include "store/sqlite/ledger_forget.h"

#include <set>
#include <utility>

namespace shepherd {
namespace {

// Visits each name once through the index, because there are few names and many tasks.
constexpr const char* kDropTask =
    "WITH RECURSIVE names(name) AS (SELECT min(name) FROM tool_task UNION ALL"
    " SELECT (SELECT min(name) FROM tool_task WHERE name > names.name) FROM names WHERE names.name IS NOT NULL)"
    " DELETE FROM tool_task WHERE task = ? AND name IN (SELECT name FROM names WHERE name IS NOT NULL) RETURNING name";

Result<void> forget_task(Database& database, const std::string& task, std::set<std::string>& tools) {
  for (const char* sql : {"DELETE FROM finding WHERE task = ?", "DELETE FROM state WHERE task = ?",
                          // A span that is still open would never end.
                          "DELETE FROM span WHERE task = ? AND ended = 0",
                          // No task id contains ':', so the new name cannot collide with one.
                          "UPDATE span SET task = 'deleted:' || lower(hex(randomblob(8))) WHERE task = ?"}) {
    if (auto done = database.use(sql, task).run(); !done) return done;
  }
  auto row = database.use(kDropTask, task);
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return {};
    tools.insert(row.text(0));
  }
}

Result<bool> has_caller(Database& database, const std::string& tool) {
  return database.use("SELECT 1 FROM tool_task WHERE name = ? LIMIT 1", tool).step();
}

}  // namespace

Result<void> prepare_forgetting(Database& database) {
  auto there = database.use("SELECT 1 FROM sqlite_schema WHERE name = 'tool_task'").step();
  if (!there) return fail(there.error());
  if (*there) return {};
  return database.execute(
      "BEGIN; CREATE TABLE tool_task(name TEXT NOT NULL, task TEXT NOT NULL, PRIMARY KEY(name, task)) WITHOUT ROWID;"
      "INSERT INTO tool_task SELECT DISTINCT name, '' FROM tool; COMMIT");
}

Result<void> forget_tasks(Database& database, const std::vector<std::string>& tasks, std::vector<std::string>& gone) {
  std::set<std::string> tools;
  for (const std::string& task : tasks) {
    if (auto done = forget_task(database, task, tools); !done) return done;
  }
  for (const std::string& tool : tools) {
    auto called = has_caller(database, tool);
    if (!called) return fail(called.error());
    if (*called) continue;
    for (const char* sql : {"DELETE FROM tool WHERE name = ?", "DELETE FROM tool_time WHERE name = ?"}) {
      if (auto done = database.use(sql, tool).run(); !done) return done;
    }
    gone.push_back(tool);
  }
  return {};
}

Result<void> drop_tool_tasks(Database& database) {
  return database.use("DELETE FROM tool_task WHERE task <> '' AND task NOT IN (SELECT task FROM span)").run();
}

Result<void> purge_ledger(Database& database) {
  // SQLite's secure_delete leaves copies behind if rows moved between pages.
  if (auto done = database.execute("VACUUM"); !done) return done;
  auto cut = database.use("PRAGMA wal_checkpoint(TRUNCATE)");
  auto row = cut.step();
  if (!row) return fail(row.error());
  if (cut.integer(0) != 0) {
    return fail(ErrorCode::unavailable, "database_locked", database.path() + " is being read; its log is not cut yet.");
  }
  return {};
}

}  // namespace shepherd
