// The data directory and the locks that say whose it is. The kernel drops a lock with the process, so a crash leaves
// nothing to clean up.
//
//   lock         the server that has the directory: one at a time
//   serve.lock   a `shepherd serve`, from before it asks for the directory until it has ended. A run that hosts looks
//                for it and hands the directory over; no run takes the directory while it is held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace shepherd {

// Makes the directory (mode 0700) when it is missing. Fails with what to do about it.
Result<void> make_data_directory(const std::string& directory);

enum class LockKind : std::uint8_t { server, serve };

// Threads: value; move-only.
class DataLock {
 public:
  // conflict/data_in_use names the process that holds it and, when it is known, its address.
  static Result<DataLock> take(const std::string& directory, LockKind kind = LockKind::server);
  // The process that holds it now; nullopt: none. Looking does not take the lock.
  static std::optional<std::int64_t> holder(const std::string& directory, LockKind kind = LockKind::server);

  DataLock(DataLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DataLock& operator=(DataLock&&) = delete;
  ~DataLock();

 private:
  explicit DataLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace shepherd
