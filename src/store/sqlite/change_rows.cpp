#include "store/sqlite/change_rows.h"

#include "store/limits.h"

namespace shepherd {

Result<void> add_change(Database& database, const Change& change) {
  auto done = database
                  .use("INSERT INTO change(number, after, kind, name, key) VALUES(?, ?, ?, ?, ?)", change.number,
                       change.after, static_cast<int>(change.kind), change.name, change.key)
                  .run();
  if (!done || change.number % kChangeTrim != 0 || change.number <= kKeptChanges) return done;
  return database.use("DELETE FROM change WHERE number <= ?", change.number - kKeptChanges).run();
}

Result<std::vector<Change>> read_changes(Database& database, std::uint64_t after, std::uint64_t through,
                                         std::size_t limit) {
  auto row = database.use(
      "SELECT number, after, kind, name, key FROM change WHERE number > ? AND number <= ? ORDER BY number LIMIT ?",
      after, through, static_cast<std::uint64_t>(limit));
  std::vector<Change> changes;
  for (;;) {
    auto found = row.step();
    if (!found) return fail(std::move(found.error()));
    if (!*found) return changes;
    changes.push_back(
        {row.number(0), row.number(1), static_cast<ChangeKind>(row.integer(2)), row.text(3), row.text(4)});
  }
}

Result<std::uint64_t> oldest_change(Database& database) {
  auto row = database.use("SELECT min(number) FROM change");
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.number(0) : 0;
}

Result<std::string> read_record(Database& database, const std::string& kind, const std::string& key) {
  auto row = database.use("SELECT value FROM record WHERE kind = ? AND key = ?", kind, key);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.text(0) : std::string();
}

}  // namespace shepherd
