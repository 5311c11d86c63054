#include "store/sqlite/wal_keeper.h"

#include <algorithm>

#include "base/log.h"

namespace shepherd {

WalKeeper::Finish WalKeeper::committed(std::uint64_t frames) {
  MutexLock lock(mutex_);
  if (frames < frames_) {  // the log started over
    copied_ = 0;
    passed_ = false;
    warned_ = false;
  }
  frames_ = frames;
  copied_ = std::min(copied_, frames_);
  if (uncopied_bytes() > limits_.hard_bytes) return Finish::all;
  return passed_ && uncopied_bytes() <= limits_.rest_bytes ? Finish::rest : Finish::nothing;
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
  copied(code, in_database);
}

bool WalKeeper::due() const {
  MutexLock lock(mutex_);
  if (uncopied_bytes() > limits_.soft_bytes) return true;
  // Started, and what was written meanwhile is still more than the writer should copy.
  return copied_ > 0 && copied_ * frame_bytes_ > limits_.soft_bytes / 2 && uncopied_bytes() > limits_.rest_bytes;
}

void WalKeeper::pass() {
  int in_log = 0, in_database = 0;
  int code = SQLITE_OK;
  {
    MutexLock passing(passing_);
    code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &in_database);
  }
  copied(code, in_database);
  MutexLock lock(mutex_);
  passed_ = true;
}

void WalKeeper::copied(int code, int frames) {
  MutexLock lock(mutex_);
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
