#include "sqlite/database.h"

#include <cerrno>
#include <cstring>

namespace shepherd {

Statement::~Statement() {
  if (!statement_) return;
  if (owned_) {
    sqlite3_finalize(statement_);
  } else {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
}

Result<void> Statement::prepared() const {
  if (!statement_) return fail(database_->error(prepared_));
  return {};
}

Result<bool> Statement::step() {
  if (!statement_) return fail(database_->error(prepared_));
  errno = 0;
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(database_->error(code, errno));
}

Result<void> Statement::run() {
  for (;;) {
    auto row = step();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return {};
  }
}

std::string_view Statement::bytes(int column) const {
  // SQLite requires column_blob before column_bytes; for text it returns the stored bytes without a conversion.
  const void* data = sqlite3_column_blob(statement_, column);
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data ? std::string_view(static_cast<const char*>(data), size) : std::string_view();
}

void Statement::bind(int at, std::string_view text) {
  // An empty view may have a null pointer, which would bind NULL.
  sqlite3_bind_text64(statement_, at, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind(int at, Blob blob) {
  sqlite3_bind_blob64(statement_, at, blob.bytes.data() ? blob.bytes.data() : "", blob.bytes.size(), SQLITE_STATIC);
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, OpenMode mode,
                                                 std::chrono::milliseconds busy_wait) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case OpenMode::read_write:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case OpenMode::read_only:
      flags |= SQLITE_OPEN_READONLY;
      break;
  }
  // SQLite counts its own memory under a lock that all threads share, and we never read the count.
  static const int without_count = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(without_count);
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle, path));
  if (code != SQLITE_OK) return fail(database->error(code));
  sqlite3_busy_timeout(handle, static_cast<int>(busy_wait.count()));
  return database;
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Statement Database::prepared(const char* sql) {
  auto [known, fresh] = statements_.try_emplace(sql, nullptr);
  int code = SQLITE_OK;
  if (known->second == nullptr) {
    code = sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &known->second, nullptr);
  }
  return Statement(*this, known->second, code, false);
}

Statement Database::prepare_once(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(handle_, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  return Statement(*this, statement, code, true);
}

Result<void> Database::execute(const std::string& sql) {
  int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error(code));
  return {};
}

Error Database::error(int code, int system) const {
  std::string said = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  // SQLite does not keep errno when COMMIT fails.
  if (int kept = handle_ ? sqlite3_system_errno(handle_) : 0) system = kept;
  auto failed = [&](ErrorCode kind, std::string reason, std::string message) {
    return Error{kind, std::move(reason), std::move(message), {}};
  };
  switch (code & 0xff) {
    case SQLITE_FULL:
      return failed(ErrorCode::storage_full, "storage_full", "No space is left for " + path_ + ".");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return failed(ErrorCode::unavailable, "database_locked",
                    "Another process holds " + path_ + " (" + said + "). Try again, or end that process.");
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      if (system == ENOSPC || system == EDQUOT || system == EFBIG) {
        return failed(ErrorCode::storage_full, "storage_full", "No space is left for " + path_ + ".");
      }
      return failed(
          ErrorCode::unavailable, "io_error",
          "Cannot use " + path_ + ": " + said + (system ? std::string(", ") + std::strerror(system) : "") + ".");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return failed(ErrorCode::internal, "corrupt",
                    path_ + " is damaged or not a Shepherd database (" + said +
                        "). Run `shepherd doctor` and restore a backup if it says so.");
    case SQLITE_NOMEM:
      return failed(ErrorCode::unavailable, "out_of_memory", "No memory is left to use " + path_ + ".");
    default:
      return failed(ErrorCode::internal, "sqlite", path_ + ": " + said + " (" + std::to_string(code) + ").");
  }
}

Result<std::int64_t> one_number(Database& database, const char* sql) {
  auto row = database.use(sql);
  auto found = row.step();
  if (!found) return fail(std::move(found.error()));
  return *found ? row.integer(0) : 0;
}

}  // namespace shepherd
