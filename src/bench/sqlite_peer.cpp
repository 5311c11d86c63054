#include "bench/sqlite_peer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr std::int64_t kCheckpointBytes = 16 * 1024 * 1024;  // the server's own threshold

struct FreeSqlite {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
using Database = std::unique_ptr<sqlite3, FreeSqlite>;
using Statement = std::unique_ptr<sqlite3_stmt, FreeSqlite>;
using Value = std::unique_ptr<sqlite3_value, FreeSqlite>;

struct SqliteRow {
  std::vector<Value> values;
  std::uint64_t events = 0;
};

std::unexpected<Error> sqlite_error(sqlite3* database) {
  return fail(ErrorCode::unavailable, "sqlite", fmt::format("SQLite: {}", sqlite3_errmsg(database)));
}

Result<Database> open_database(const std::filesystem::path& path, int flags) {
  sqlite3* opened = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &opened, flags, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) return sqlite_error(opened);
  return database;
}

Result<Statement> prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return sqlite_error(database);
  return Statement(statement);
}

Result<void> execute(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return sqlite_error(database);
  return {};
}

Result<std::int64_t> number(sqlite3* database, const std::string& sql) {
  Result<Statement> statement = prepare(database, sql);
  if (!statement) return fail(statement.error());
  if (sqlite3_step(statement->get()) != SQLITE_ROW) return sqlite_error(database);
  return sqlite3_column_int64(statement->get(), 0);
}

// Copies the server's table and indexes.
Result<void> make_table(sqlite3* source, sqlite3* copy) {
  Result<Statement> schema =
      prepare(source, "SELECT sql FROM sqlite_schema WHERE tbl_name = 'run' AND sql IS NOT NULL ORDER BY type DESC");
  if (!schema) return fail(schema.error());
  while (sqlite3_step(schema->get()) == SQLITE_ROW) {
    auto made = execute(copy, reinterpret_cast<const char*>(sqlite3_column_text(schema->get(), 0)));
    if (!made) return made;
  }
  return {};
}

Result<std::vector<SqliteRow>> newest_rows(sqlite3* source, std::uint64_t events) {
  Result<Statement> query = prepare(source, "SELECT count, * FROM run ORDER BY position DESC");
  if (!query) return fail(query.error());
  std::vector<SqliteRow> rows;
  std::uint64_t read = 0;
  while (read < events && sqlite3_step(query->get()) == SQLITE_ROW) {
    SqliteRow row;
    row.events = static_cast<std::uint64_t>(sqlite3_column_int64(query->get(), 0));
    for (int i = 1; i < sqlite3_column_count(query->get()); ++i) {
      row.values.emplace_back(sqlite3_value_dup(sqlite3_column_value(query->get(), i)));
    }
    read += row.events;
    rows.push_back(std::move(row));
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

Result<void> insert(sqlite3* copy, sqlite3_stmt* statement, const SqliteRow& row) {
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    sqlite3_bind_value(statement, static_cast<int>(i + 1), row.values[i].get());
  }
  if (sqlite3_step(statement) != SQLITE_DONE) return sqlite_error(copy);
  sqlite3_reset(statement);
  return {};
}

}  // namespace

Result<SqliteInserts> insert_rows_again(const std::filesystem::path& source_path,
                                        const std::filesystem::path& copy_path, double events_per_transaction,
                                        std::uint64_t events) {
  Result<Database> source = open_database(source_path, SQLITE_OPEN_READONLY);
  if (!source) return fail(source.error());
  Result<Database> copy = open_database(copy_path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!copy) return fail(copy.error());
  Result<std::int64_t> page_bytes = number(source->get(), "PRAGMA page_size");
  if (!page_bytes) return fail(page_bytes.error());
  Result<void> prepared = execute(
      copy->get(), fmt::format("PRAGMA page_size = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                               "PRAGMA wal_autocheckpoint = {}; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
                               *page_bytes, kCheckpointBytes / *page_bytes));
  if (!prepared) return fail(prepared.error());
  if (Result<void> made = make_table(source->get(), copy->get()); !made) return fail(made.error());
  Result<std::vector<SqliteRow>> rows = newest_rows(source->get(), events);
  if (!rows) return fail(rows.error());
  if (rows->empty()) return fail(ErrorCode::unavailable, "sqlite", "the server's database has no rows");

  std::string marks = "?";
  for (std::size_t i = 1; i < rows->front().values.size(); ++i) marks += ",?";
  Result<Statement> statement = prepare(copy->get(), "INSERT INTO run VALUES(" + marks + ")");
  if (!statement) return fail(statement.error());

  SqliteInserts done;
  std::uint64_t start_ns = steady_ns();
  for (auto row = rows->begin(); row != rows->end();) {
    if (Result<void> begun = execute(copy->get(), "BEGIN IMMEDIATE"); !begun) return fail(begun.error());
    std::uint64_t in_transaction = 0;
    for (; row != rows->end() && static_cast<double>(in_transaction) < events_per_transaction; ++row) {
      if (Result<void> inserted = insert(copy->get(), statement->get(), *row); !inserted) return fail(inserted.error());
      in_transaction += row->events;
    }
    if (Result<void> committed = execute(copy->get(), "COMMIT"); !committed) return fail(committed.error());
    done.events += in_transaction;
    ++done.transactions;
  }
  done.seconds = static_cast<double>(steady_ns() - start_ns) / static_cast<double>(kNsPerSecond);
  return done;
}

}  // namespace shepherd::bench
