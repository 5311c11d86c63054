#include "api/readiness.h"

#include <string>
#include <utility>

#include "api/limits.h"

namespace shepherd {

void Readiness::check(Done<void> done) {
  std::optional<Result<void>> known;
  std::int64_t now_ms = clock_.steady_ms();
  {
    MutexLock lock(mutex_);
    if (last_ && now_ms - last_ms_ < kReadinessCache.count()) known = last_;
  }
  if (known) return done(std::move(*known));
  journal_.write(
      [at_ms = clock_.wall_ms()](WriteTxn& txn) { return txn.keep_cursor("probe", format_timestamp(at_ms)); },
      [this, now_ms, done = std::move(done)](Result<void> written) mutable {
        {
          MutexLock lock(mutex_);
          last_ = written;
          last_ms_ = now_ms;
        }
        done(std::move(written));
      });
}

}  // namespace shepherd
