// Marks a database as in use by this process: an exclusive lock on a file beside it, which the kernel releases however
// the process ends.
// Threads: value.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace shepherd {

class FileLock {
 public:
  // unavailable/database_locked if another process (or another store of this one) has it.
  static Result<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace shepherd
