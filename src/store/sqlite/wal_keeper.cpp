#include "store/sqlite/wal_keeper.h"

#include <algorithm>

#include "base/log.h"
#include "store/sqlite/limits.h"

namespace shepherd {

WalKeeper::Finish WalKeeper::committed(std::uint64_t frames) {
  MutexLock lock(mutex_);
  if (frames < frames_) {  // the log was reset
    copied_ = 0;
    passes_ = 0;
    nearly_ = false;
    warned_ = false;
  }
  frames_ = frames;
  if (frames_ * frame_bytes_ > limits_.hard_bytes) return Finish::all;
  return nearly_ ? Finish::rest : Finish::nothing;
}

void WalKeeper::finish(Database& writer, Finish how) {
  if (how == Finish::nothing) return;
  int in_log = 0, in_database = 0;
  int code = SQLITE_OK;
  if (how == Finish::all) {
    MutexLock wait(passing_);
    code = sqlite3_wal_checkpoint_v2(writer.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_database);
  } else {
    code = sqlite3_wal_checkpoint_v2(writer.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_database);
  }
  MutexLock lock(mutex_);
  copied(code, in_database);
  // Usually the next commit resets the log. If a reader prevented it, the thread starts again.
  passes_ = 0;
  nearly_ = false;
}

bool WalKeeper::due() const {
  MutexLock lock(mutex_);
  if (nearly_) return false;
  return uncopied_bytes() > (passes_ == 0 ? limits_.soft_bytes : limits_.rest_bytes);
}

void WalKeeper::pass() {
  int in_log = 0, in_database = 0;
  int code = SQLITE_OK;
  {
    MutexLock passing(passing_);
    code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_database);
  }
  MutexLock lock(mutex_);
  copied(code, in_database);
  ++passes_;
  nearly_ = passes_ >= kMaxWalPasses || uncopied_bytes() <= limits_.rest_bytes;
}

void WalKeeper::copied(int code, int frames) {
  if (code == SQLITE_OK && frames >= 0) {
    copied_ = std::min<std::uint64_t>(static_cast<std::uint64_t>(frames), frames_);
  } else if (code != SQLITE_BUSY && !warned_) {
    warned_ = true;
    log_warn("checkpoint of {} failed: {}", database_->path(), sqlite3_errstr(code));
  }
}

std::uint64_t WalKeeper::log_bytes() const {
  MutexLock lock(mutex_);
  return frames_ * frame_bytes_;
}

}  // namespace shepherd
