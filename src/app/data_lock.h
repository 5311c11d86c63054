// The data directory and the lock that gives it to one server at a time. The kernel drops the lock with the process, so
// a crash leaves nothing to clean up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace shepherd {

// Makes the directory (mode 0700) when it is missing. Fails with what to do about it.
Result<void> make_data_directory(const std::string& directory);

// Threads: value; move-only.
class DataLock {
 public:
  // conflict/data_in_use names the process that holds it and, when it is known, its address.
  static Result<DataLock> take(const std::string& directory);
  // The process that holds the directory now; nullopt: nobody.
  static std::optional<std::int64_t> holder(const std::string& directory);

  DataLock(DataLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DataLock& operator=(DataLock&&) = delete;
  ~DataLock();

 private:
  explicit DataLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace shepherd
