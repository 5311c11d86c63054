#include "store/search_sqlite/database.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/limits.h"

namespace shepherd::search {
namespace {

constexpr std::string_view kCorrupt = "search_index_corrupt";

std::unexpected<Error> sqlite_error(sqlite3* connection, int code) {
  std::string message =
      std::string("search index: ") + (connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection));
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(ErrorCode::internal, std::string(kCorrupt), std::move(message));
    case SQLITE_FULL:
      return fail(ErrorCode::storage_full, "disk_full", std::move(message));
    default:
      return fail(ErrorCode::unavailable, "search_index", std::move(message));
  }
}

}  // namespace

bool is_corrupt(const Error& error) {
  return error.reason == kCorrupt;
}

void Statement::bind(int at, std::uint64_t number) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  sqlite3_bind_int64(statement_.get(), at, static_cast<sqlite3_int64>(std::min(number, kMax)));
}

void Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

Result<bool> Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(sqlite3_db_handle(statement_.get()), code);
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

Result<Database> Database::connect(const std::string& path, int flags) {
  Database database;
  sqlite3* connection = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database.connection_.reset(connection);
  if (code != SQLITE_OK) return sqlite_error(connection, code);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, static_cast<int>(kBusyWait.count()));
  return database;
}

Result<Database> Database::open(const std::string& path) {
  // SQLite would create it readable by all; its WAL takes the mode from here.
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd >= 0) ::close(fd);
  auto database = connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database) return database;
  if (auto set = database->run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=16777216;"
                               "PRAGMA cache_size=-8192; PRAGMA temp_store=MEMORY;");
      !set) {
    return fail(set.error());
  }
  return database;
}

Result<Database> Database::open_to_read(const std::string& path) {
  auto database = connect(path, SQLITE_OPEN_READWRITE);  // a read-only connection could not recover a WAL
  if (!database) return database;
  if (auto set = database->run("PRAGMA query_only=1; PRAGMA cache_size=-2048;"); !set) return fail(set.error());
  return database;
}

Result<void> Database::run(const char* sql) {
  int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return sqlite_error(connection_.get(), code);
  return {};
}

Result<Statement> Database::prepare(const char* sql) const {
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v3(connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code != SQLITE_OK) return sqlite_error(connection_.get(), code);
  Statement statement;
  statement.statement_.reset(prepared);
  return statement;
}

Result<std::uint64_t> Database::number(const char* sql) const {
  auto statement = prepare(sql);
  if (!statement) return fail(statement.error());
  auto row = statement->step();
  if (!row) return fail(row.error());
  return *row ? statement->number(0) : 0;
}

}  // namespace shepherd::search
