#include "host/data_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "client/find_server.h"

namespace shepherd {
namespace {

std::string lock_path(const std::string& directory, LockKind kind) {
  return directory + (kind == LockKind::serve ? "/serve.lock" : "/lock");
}

// A lock on the open file rather than the process, so that others can test it without taking it.
struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// The holder writes its process id into the file; 0 if it has not yet.
std::int64_t written_pid(int descriptor) {
  char text[32];
  ssize_t got = pread(descriptor, text, sizeof text, 0);
  std::int64_t pid = 0;
  if (got > 0) std::from_chars(text, text + got, pid);
  return pid;
}

}  // namespace

Result<void> make_data_directory(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) {
    if (access(directory.c_str(), R_OK | W_OK | X_OK) == 0) return {};
    return fail(ErrorCode::permission_denied, "data_not_writable",
                fmt::format("cannot write to the data directory {}: {}; make it yours or choose another with --data",
                            directory, std::strerror(errno)));
  }
  std::filesystem::path parent = std::filesystem::path(directory).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (!error && mkdir(directory.c_str(), 0700) != 0) error = std::error_code(errno, std::generic_category());
  if (error) {
    return fail(
        ErrorCode::permission_denied, "data_not_writable",
        fmt::format("cannot make the data directory {}: {}; choose another with --data", directory, error.message()));
  }
  return {};
}

Result<DataLock> DataLock::take(const std::string& directory, LockKind kind) {
  std::string path = lock_path(directory, kind);
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(ErrorCode::permission_denied, "data_not_writable",
                fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  }
  DataLock lock(descriptor);
  struct flock exclusive = whole_file(F_WRLCK);
  if (fcntl(descriptor, F_OFD_SETLK, &exclusive) != 0) {
    std::string who = fmt::format("process {}", written_pid(descriptor));
    if (Result<ServerRecord> record = read_server_record(directory)) who += ", " + record->public_url;
    return fail(ErrorCode::conflict, "data_in_use",
                fmt::format("the data directory {} is in use by another server ({}); use that one, stop it, or choose "
                            "another directory with --data",
                            directory, who));
  }
  // Overwrites an earlier holder's text with the same number of bytes, which works on a full disk. If it fails, only a
  // number in a message is missing.
  std::string pid = fmt::format("{:<20}\n", getpid());
  if (pwrite(descriptor, pid.data(), pid.size(), 0) < 0)
    spdlog::debug("cannot write {}: {}", path, std::strerror(errno));
  return lock;
}

std::optional<std::int64_t> DataLock::holder(const std::string& directory, LockKind kind) {
  int descriptor = open(lock_path(directory, kind).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  DataLock looked_at(descriptor);
  struct flock conflict = whole_file(F_WRLCK);
  if (fcntl(descriptor, F_OFD_GETLK, &conflict) != 0 || conflict.l_type == F_UNLCK) return std::nullopt;
  return written_pid(descriptor);
}

DataLock::~DataLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace shepherd
