#include "access/audit_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace shepherd {
namespace {

std::unexpected<Error> audit_file_error(const std::string& path, const char* what) {
  return fail(ErrorCode::unavailable, "audit_file",
              std::string("cannot ") + what + " " + path + ": " + std::strerror(errno));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace

AuditFile::AuditFile(std::string path, std::size_t max_bytes, int files)
    : path_(std::move(path)), max_bytes_(max_bytes), files_(files) {}

AuditFile::~AuditFile() {
  close();
}

void AuditFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<void> AuditFile::open() {
  close();
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  struct stat facts{};
  if (fd_ < 0 || ::fchmod(fd_, S_IRUSR | S_IWUSR) != 0 || ::fstat(fd_, &facts) != 0) {
    auto error = audit_file_error(path_, "open");
    close();
    return error;
  }
  size_ = static_cast<std::size_t>(facts.st_size);
  char last = '\n';
  if (size_ > 0 && ::pread(fd_, &last, 1, facts.st_size - 1) == 1 && last != '\n' && write_all(fd_, "\n")) ++size_;
  return {};
}

Result<void> AuditFile::append(std::string_view lines) {
  if (fd_ < 0) {
    if (auto opened = open(); !opened) return opened;
  }
  if (size_ > 0 && size_ + lines.size() > max_bytes_) {
    if (auto rotated = rotate(); !rotated) return rotated;
  }
  if (!write_all(fd_, lines)) {
    auto error = audit_file_error(path_, "write");
    // A failed truncation leaves a torn line; the newline that open() adds ends it.
    if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0) close();
    return error;
  }
  size_ += lines.size();
  return {};
}

Result<void> AuditFile::rotate() {
  close();
  for (int n = files_ - 1; n >= 1; --n) {
    std::string from = n == 1 ? path_ : numbered(n - 1);
    if (std::rename(from.c_str(), numbered(n).c_str()) != 0 && errno != ENOENT) return audit_file_error(from, "rotate");
  }
  return open();
}

}  // namespace shepherd
