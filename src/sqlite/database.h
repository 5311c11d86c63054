// A SQLite connection and its prepared statements. This is the only place that turns SQLite's codes into errors.
//
//   auto row = database.use("SELECT key FROM task WHERE id = ?", id);
//   auto found = row.step();   // Result<bool>: error, or whether there is a row
//   row.integer(0)
//
// Failures: storage_full; unavailable/database_locked (another process held the lock longer than the busy wait);
// unavailable/io_error; internal/corrupt, which names the file.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/result.h"

namespace shepherd {

class Database;

struct Blob {
  std::string_view bytes;
};

// A prepared statement, borrowed from its connection while in scope; each SQL text can be in use once at a time. Bound
// text is not copied: it must live as long as the statement is stepped. Threads: its connection's.
class Statement {
 public:
  // `prepared` is SQLite's result of preparing the statement, reported by step(). The destructor finalizes an `owned`
  // statement.
  Statement(const Database& database, sqlite3_stmt* statement, int prepared, bool owned)
      : database_(&database), statement_(statement), prepared_(prepared), owned_(owned) {}
  Statement(Statement&& other) noexcept
      : database_(other.database_),
        statement_(std::exchange(other.statement_, nullptr)),
        prepared_(other.prepared_),
        owned_(other.owned_) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Result<void> prepared() const;  // the error if preparing failed: a missing table, a damaged file
  Result<bool> step();            // true when there is a row
  Result<void> run();             // steps to the end

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  // Text or blob, as stored; valid until the next step.
  std::string_view bytes(int column) const;
  std::string text(int column) const { return std::string(bytes(column)); }

  void bind(int at, std::int64_t value) { sqlite3_bind_int64(statement_, at, value); }
  void bind(int at, std::uint64_t value) { bind(at, static_cast<std::int64_t>(value)); }
  void bind(int at, int value) { bind(at, std::int64_t{value}); }
  void bind(int at, std::string_view text);
  void bind(int at, Blob blob);
  void bind(int at, std::nullopt_t) { sqlite3_bind_null(statement_, at); }
  template <class T>
  void bind(int at, const std::optional<T>& value) {
    value ? bind(at, *value) : bind(at, std::nullopt);
  }

 private:
  const Database* database_;
  sqlite3_stmt* statement_;
  int prepared_;
  bool owned_;
};

enum class OpenMode { create, read_write, read_only };

// Owns the connection. Threads: caller (one at a time).
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const std::string& path, OpenMode mode,
                                                std::chrono::milliseconds busy_wait);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The statement for this SQL, with values bound from 1 on. `sql` must keep its address, which is the key of the
  // cache.
  template <class... Values>
  Statement use(const char* sql, Values&&... values) {
    static_assert((!(std::is_same_v<Values, std::string>) && ...), "bound text is not copied: pass an lvalue");
    Statement statement = prepared(sql);
    int at = 0;
    (statement.bind(++at, values), ...);
    return statement;
  }
  // The same for SQL built at run time; it is prepared on every call.
  Statement prepare_once(const std::string& sql);
  // Runs several statements without values or rows.
  Result<void> execute(const std::string& sql);

  std::int64_t last_key() const { return sqlite3_last_insert_rowid(handle_); }
  std::int64_t changes() const { return sqlite3_changes64(handle_); }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  // `system` is the errno of the failed call, if the caller has it.
  Error error(int code, int system = 0) const;

 private:
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  Statement prepared(const char* sql);

  sqlite3* handle_;
  std::string path_;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// The first column of the first row; 0 when there is no row.
Result<std::int64_t> one_number(Database& database, const char* sql);

}  // namespace shepherd
