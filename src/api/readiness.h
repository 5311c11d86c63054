// Whether the store accepts writes; the answer of /readyz.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

// Writes one small record and caches the result for kReadinessCache, so that probes are cheap. Fails with the error of
// the write: unavailable (busy, shutting down, I/O), storage_full, internal.
// Threads: any.
class Readiness {
 public:
  Readiness(Journal& journal, const Clock& clock) : journal_(journal), clock_(clock) {}

  void check(Done<void> done) EXCLUDES(mutex_);

 private:
  Journal& journal_;
  const Clock& clock_;
  Mutex mutex_;
  std::optional<Result<void>> last_ GUARDED_BY(mutex_);
  std::int64_t last_ms_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
