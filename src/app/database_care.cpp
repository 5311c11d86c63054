#include "app/database_care.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "base/limits.h"
#include "store/sqlite/database.h"

namespace shepherd {
namespace {

namespace fs = std::filesystem;

Result<std::unique_ptr<Database>> open_existing(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return fail(ErrorCode::not_found, "no_database",
                fmt::format("there is no database at {}; give the right --data", path));
  }
  return Database::open(path, OpenMode::read_write, kBusyWait);
}

// A rename is only as durable as the directory that records it.
void sync_path(const std::string& path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

Result<std::uint64_t> copy_database(const std::string& database, const std::string& destination) {
  std::error_code error;
  if (fs::exists(destination, error)) {
    return fail(ErrorCode::conflict, "exists",
                fmt::format("{} exists already; choose another name or remove it first", destination));
  }
  Result<std::unique_ptr<Database>> source = open_existing(database);
  if (!source) return fail(source.error());
  std::string partial = destination + ".partial";
  fs::remove(partial, error);
  {
    Statement copy = (*source)->use("VACUUM INTO ?", partial);
    if (Result<void> done = copy.run(); !done) {
      fs::remove(partial, error);
      return fail(done.error());
    }
  }
  fs::permissions(partial, fs::perms::owner_read | fs::perms::owner_write, error);
  sync_path(partial);
  fs::rename(partial, destination, error);
  if (error) {
    std::string why = error.message();
    fs::remove(partial, error);
    return fail(ErrorCode::unavailable, "cannot_write", fmt::format("cannot write {}: {}", destination, why));
  }
  sync_path(fs::absolute(destination).parent_path().string());
  return fs::file_size(destination, error);
}

Result<DatabaseHealth> check_database(const std::string& path) {
  Result<std::unique_ptr<Database>> database = open_existing(path);
  if (!database) return fail(database.error());
  DatabaseHealth health;
  std::error_code error;
  health.bytes = fs::file_size(path, error);
  Statement check = (*database)->use("PRAGMA integrity_check(1)");
  Result<bool> row = check.step();
  if (!row) return fail(row.error());
  if (*row && check.bytes(0) != "ok") health.problem = check.text(0);
  return health;
}

}  // namespace shepherd
