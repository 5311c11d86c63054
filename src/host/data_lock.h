// The data directory and its locks, which show who owns it. The kernel releases a lock with its process, so a crash
// leaves nothing to clean up.
//
//   lock         the server that owns the directory, one at a time
//   serve.lock   a `shepherd serve`, from before it requests the directory until it has ended. A hosting run checks it
//                and hands the directory over; no run takes the directory while it is held.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace shepherd {

// Creates the directory (mode 0700) if it is missing. An error says what to do.
Result<void> make_data_directory(const std::string& directory);

enum class LockKind : std::uint8_t { server, serve };

// Threads: value; move-only.
class DataLock {
 public:
  // conflict/data_in_use names the process that holds the lock and, if known, its address.
  static Result<DataLock> take(const std::string& directory, LockKind kind = LockKind::server);
  // The process that holds the lock now; nullopt if there is none. Does not take the lock, so it blocks no other
  // process.
  static std::optional<std::int64_t> holder(const std::string& directory, LockKind kind = LockKind::server);

  DataLock(DataLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DataLock& operator=(DataLock&&) = delete;
  ~DataLock();

 private:
  explicit DataLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace shepherd
