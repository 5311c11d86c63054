#include "store/sqlite/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shepherd {

Result<FileLock> FileLock::take(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(ErrorCode::unavailable, "io_error", "Cannot open " + path + ": " + std::strerror(errno) + ".");
  }
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) {
    return fail(ErrorCode::unavailable, "io_error", "Cannot lock " + path + ": " + std::strerror(errno) + ".");
  }
  return fail(
      ErrorCode::unavailable, "database_locked",
      "Another shepherd process has this data directory open (" + path + "). Use that one, or end it and try again.");
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace shepherd
