// Keeps the write-ahead log bounded without making commits wait for it: a thread copies the log into the database with
// passive checkpoints while the writer goes on. The log starts over only when all of it is copied and nothing is
// written in between, so the writer copies the small rest itself when the thread has nearly caught up (Finish::rest),
// or, when the thread cannot keep up, waits and copies everything (Finish::all).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/result.h"
#include "sqlite/database.h"

namespace shepherd {

struct WalLimits {
  std::size_t soft_bytes;  // the thread starts at this size
  std::size_t hard_bytes;  // the writer copies at this size
  std::size_t rest_bytes;  // if the thread has left less than this, the writer copies it
};

// Threads: committed() and finish() from the writer; pass() from the keeper's thread; the rest from any.
class WalKeeper {
 public:
  WalKeeper(std::unique_ptr<Database> database, WalLimits limits, std::size_t frame_bytes)
      : database_(std::move(database)), limits_(limits), frame_bytes_(frame_bytes) {}

  enum class Finish { nothing, rest, all };
  // Called after each commit with the number of frames in the log. Returns what the writer should do now.
  Finish committed(std::uint64_t frames) EXCLUDES(mutex_);
  // The writer's own checkpoint, on its connection.
  void finish(Database& writer, Finish how) EXCLUDES(mutex_, passing_);

  bool due() const EXCLUDES(mutex_);
  // Makes one passive checkpoint. A failure is only logged: the log keeps what is not copied, and the next pass
  // retries.
  void pass() EXCLUDES(mutex_, passing_);

  std::uint64_t log_bytes() const EXCLUDES(mutex_);

 private:
  void copied(int code, int frames) REQUIRES(mutex_);
  std::uint64_t uncopied_bytes() const REQUIRES(mutex_) { return (frames_ - copied_) * frame_bytes_; }

  std::unique_ptr<Database> database_;
  WalLimits limits_;
  std::size_t frame_bytes_;
  Mutex passing_;  // held during pass(), so that finish(all) can wait for it
  mutable Mutex mutex_;
  std::uint64_t frames_ GUARDED_BY(mutex_) = 0;  // in the log
  std::uint64_t copied_ GUARDED_BY(mutex_) = 0;  // frames of these that are in the database
  int passes_ GUARDED_BY(mutex_) = 0;            // since the log was reset
  bool nearly_ GUARDED_BY(mutex_) = false;       // the thread has done its part; the writer does the rest
  bool warned_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd
