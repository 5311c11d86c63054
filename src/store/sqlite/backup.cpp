#include "store/sqlite/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/limits.h"
#include "sqlite/database.h"
#include "store/sqlite/leftovers.h"

namespace shepherd {

namespace {

Result<void> sync(const std::filesystem::path& path, int flags) {
  int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
  int why = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (done) return {};
  return fail(ErrorCode::unavailable, "io_error", "Cannot sync " + path.string() + ": " + std::strerror(why) + ".");
}

// A copy has no word of a deleted task, although the original still may.
Result<void> drop_leftovers(const std::string& file) {
  auto copy = Database::open(file, OpenMode::read_write, kBusyWait);
  if (!copy) return fail(std::move(copy.error()));
  // The program that made this database may be older or newer than this one.
  auto known = one_number(**copy, "SELECT count(*) FROM sqlite_schema WHERE name = 'leftover'");
  if (!known) return fail(std::move(known.error()));
  if (*known == 0) return {};
  auto left = one_number(**copy, "SELECT count(*) FROM leftover");
  if (!left) return fail(std::move(left.error()));
  if (*left == 0) return {};
  auto done = (*copy)->execute("BEGIN");
  if (!done) return done;
  auto erased = erase_leftovers(**copy);
  if (!erased) return fail(std::move(erased.error()));
  done = (*copy)->use("UPDATE meta SET value = value - ? WHERE name = 'detail_bytes'", erased->detail_bytes).run();
  if (done) done = (*copy)->execute("COMMIT");
  if (done) done = (*copy)->execute("VACUUM");
  return done;
}

}  // namespace

Result<void> backup_database(const std::string& database_file, const std::string& destination) {
  namespace fs = std::filesystem;
  std::error_code why;
  if (fs::exists(destination, why)) {
    return fail(ErrorCode::conflict, "destination_exists", destination + " exists. Name a new file.");
  }
  auto source = Database::open(database_file, OpenMode::read_write, kBusyWait);
  if (!source) return fail(std::move(source.error()));
  std::string partial = destination + ".partial";
  fs::remove(partial, why);
  // The copy contains the log, so only its owner may read it.
  int descriptor = ::open(partial.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(ErrorCode::unavailable, "io_error", "Cannot write " + partial + ": " + std::strerror(errno) + ".");
  }
  ::close(descriptor);
  auto copied = (*source)->use("VACUUM INTO ?", partial).run();
  if (copied) copied = drop_leftovers(partial);
  if (copied) copied = sync(partial, O_RDWR);
  if (!copied) {
    fs::remove(partial, why);
    return copied;
  }
  fs::rename(partial, destination, why);
  if (why) return fail(ErrorCode::unavailable, "io_error", "Cannot rename " + partial + ": " + why.message() + ".");
  fs::path directory = fs::path(destination).parent_path();
  return sync(directory.empty() ? fs::path(".") : directory, O_RDONLY | O_DIRECTORY);
}

}  // namespace shepherd
