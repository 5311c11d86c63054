// Just enough of SQLite for the search index: a connection, a statement, errors as values.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd::search {

// Corrupt, or not a database at all: the file must be thrown away. Its error is internal/search_index_corrupt.
bool is_corrupt(const Error& error);

class Database;

// A prepared statement; lives within its database. Bound text must live until the statement is reset.
// Threads: caller.
class Statement {
 public:
  Statement() = default;
  void bind(int at, std::uint64_t number);
  void bind(int at, std::string_view text);
  Result<bool> step();  // true: there is a row
  std::uint64_t number(int column) const;
  void reset();

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Owns a connection. Threads: caller.
class Database {
 public:
  // Opens or creates the file (mode 0600), WAL, synchronous NORMAL. unavailable, storage_full, internal (corrupt).
  static Result<Database> open(const std::string& path);
  // For searching: never creates or changes anything.
  static Result<Database> open_to_read(const std::string& path);

  Result<void> run(const char* sql);
  Result<Statement> prepare(const char* sql) const;
  Result<std::uint64_t> number(const char* sql) const;  // of the first column of the first row; 0: no row
  bool in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  static Result<Database> connect(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace shepherd::search
