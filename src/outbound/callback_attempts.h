// The attempts to send callbacks. An attempt is a chain of steps without a thread of its own: a worker reads what is to
// be sent, the journal writes the claim, the poster sends, the journal writes the outcome.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"
#include "outbound/callback_config.h"
#include "outbound/callback_queue.h"
#include "outbound/callback_store.h"
#include "outbound/circuit_breaker.h"
#include "outbound/post_callback.h"

namespace shepherd {

struct CallbackParts {
  Journal& journal;
  Executor& workers;  // for blocking store reads
  const Clock& clock;
  Random& random;
  MetricRegistry& metrics;
  CallbackPoster* poster = nullptr;  // nullptr: callbacks stay pending
};

// Always shared, because its steps may outlive its owner; all parts must outlive them. Threads: any.
class CallbackAttempts : public std::enable_shared_from_this<CallbackAttempts> {
 public:
  CallbackAttempts(CallbackParts parts, CallbackConfig config);

  // What the store has: at the start, after a commit, and after another process changed it (nullopt: no record).
  void restore(const CallbackPlace& place, CallbackRecord record) EXCLUDES(mutex_);
  void add(const CallbackPlace& place, std::int64_t created_ms) EXCLUDES(mutex_);
  void learn(const CallbackPlace& place, const std::optional<CallbackRecord>& stored) EXCLUDES(mutex_);
  void set_cursor(const std::string& task, const CallbackCursor& cursor) EXCLUDES(mutex_);
  void forget(const std::string& task) EXCLUDES(mutex_);

  std::optional<CallbackRecord> find(const CallbackPlace& place) const EXCLUDES(mutex_);
  CallbackCursor cursor(const std::string& task) const EXCLUDES(mutex_);
  std::vector<CallbackPlace> of_task(const std::string& task) const EXCLUDES(mutex_);

  // Begins what is due.
  void begin_due() EXCLUDES(mutex_);
  // The same, and writes the outcomes that could not be written.
  void tick() EXCLUDES(mutex_);
  // Gives up active attempts, which then do not count, and begins no more.
  void stop() EXCLUDES(mutex_);

 private:
  // From the look at what is due to the stored outcome.
  struct Attempt {
    std::string receiver;         // empty: not begun yet
    std::int64_t claimed_ms = 0;  // 0: not claimed yet
    CallbackRecord record;        // as claimed, then with the outcome
    bool unsaved = false;         // the outcome could not be written; the next tick tries again
  };
  struct Outcome {
    bool sent = false;
    bool final = false;   // further attempts cannot help
    bool unsent = false;  // the store could not be read, so this was no attempt
    int status = 0;
    std::string error = {};
  };
  static Outcome outcome_of(const Result<int>& status);
  std::int64_t due_ms(const CallbackRecord& record) const;

  // The steps, in their order.
  void prepare(const CallbackPlace& place) EXCLUDES(mutex_);
  bool may_begin(const CallbackPlace& place, const std::string& receiver) REQUIRES(mutex_);
  void claim(const CallbackPlace& place, TaskRow task) EXCLUDES(mutex_);
  void claimed(const CallbackPlace& place, const TaskRow& task, Result<CallbackClaim> claim) EXCLUDES(mutex_);
  void send(const CallbackPlace& place, const TaskRow& task) EXCLUDES(mutex_);
  void answered(const CallbackPlace& place, std::int64_t claimed_ms, const Result<int>& status) EXCLUDES(mutex_);
  void settled(const CallbackPlace& place, std::int64_t claimed_ms, const Outcome& outcome) EXCLUDES(mutex_);
  void apply(CallbackRecord& record, const Outcome& outcome) const;
  void keep(const CallbackPlace& place, const CallbackRecord& record, std::int64_t claimed_ms) EXCLUDES(mutex_);
  void kept(const CallbackPlace& place, const CallbackRecord& record,
            const Result<std::optional<CallbackRecord>>& written) EXCLUDES(mutex_);
  void end_attempt(const CallbackPlace& place) REQUIRES(mutex_);
  void again_at(const CallbackPlace& place, std::int64_t at_ms) EXCLUDES(mutex_);
  void drop(const std::string& task) EXCLUDES(mutex_);

  const CallbackParts parts_;
  const CallbackConfig config_;
  const std::string key_;
  const CallbackClaimant claimant_;
  Counter& sent_;
  Counter& retried_;
  Counter& failed_;
  mutable Mutex mutex_;
  CallbackQueue queue_ GUARDED_BY(mutex_);
  std::map<CallbackPlace, Attempt> attempts_ GUARDED_BY(mutex_);
  CircuitBreaker breaker_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd
