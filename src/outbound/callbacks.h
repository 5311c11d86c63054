// Reports a task's end and, if requested, its earlier reports: POSTs to its callbackURL until the receiver accepts it
// or the attempts are used up. The record beside the task (pending, sent, failed) is written in a transaction before
// the first attempt and claimed before each, so after a crash at any time another attempt follows with the same
// webhook-id: at least once, never two in flight. First attempts of one task keep the order of its log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "journal/journal.h"
#include "outbound/callback_config.h"
#include "outbound/callback_record.h"
#include "outbound/circuit_breaker.h"
#include "outbound/post_callback.h"

namespace shepherd {

struct CallbackParts {
  Journal& journal;
  const Clock& clock;
  Random& random;
  MetricRegistry& metrics;
  PostCallback post = post_callback;
};

// Owns its threads. Threads: any.
class Callbacks {
 public:
  Callbacks(CallbackParts parts, CallbackConfig config);
  ~Callbacks();  // like stop()
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  // Reads the pending callbacks and starts the threads.
  Result<void> start() EXCLUDES(mutex_);
  // Gives up active attempts, which then do not count. Pending callbacks continue after the next start.
  void stop() EXCLUDES(mutex_);

  // These tasks have changed. Calls done(true) once the resulting callbacks can no longer be lost. Reads the store, one
  // call at a time.
  void changed(const std::vector<TaskRow>& tasks, std::move_only_function<void(bool)> done) EXCLUDES(mutex_);
  void forget(const std::string& task) EXCLUDES(mutex_);
  // The state of the callback for its end; nullopt if the task has not ended or has no callback.
  std::optional<CallbackRecord> find(const std::string& task) const EXCLUDES(mutex_);

  // Makes one due attempt on this thread; returns false if none is due. Used by the threads and by tests.
  bool step() EXCLUDES(mutex_);

 private:
  struct Outcome {
    bool sent = false;
    bool final = false;     // further attempts cannot help
    bool given_up = false;  // by stop(); not the receiver's fault
    int status = 0;
    std::string error;
  };
  void run() EXCLUDES(mutex_);
  // The findings of one changed() call.
  struct Reports {
    std::vector<CallbackPlace> places;
    std::map<std::string, CallbackCursor> cursors;
  };
  // Returns false if the log cannot be read.
  bool look(const TaskRow& task, Reports& reports) EXCLUDES(mutex_);
  bool look_for_reports(const TaskRow& task, CallbackCursor& cursor, std::vector<CallbackPlace>& found) const;
  void take_in(const Reports& news) EXCLUDES(mutex_);
  std::optional<CallbackPlace> take_due() REQUIRES(mutex_);
  void schedule(const CallbackPlace& place, std::int64_t at_ms) REQUIRES(mutex_);
  // An earlier callback of the task has not been tried yet or is in flight.
  bool must_wait(const CallbackPlace& place) const REQUIRES(mutex_);
  void attempt(const CallbackPlace& place) EXCLUDES(mutex_);
  Outcome send(const TaskRow& task, const CallbackPlace& place) EXCLUDES(mutex_);
  void settle(CallbackRecord& record, const Outcome& outcome) const;
  bool write(const CallbackPlace& place, const CallbackRecord& record);

  const CallbackParts parts_;
  const CallbackConfig config_;
  const std::string key_;
  Counter& sent_;
  Counter& retried_;
  Counter& failed_;
  mutable Mutex mutex_;
  CondVar ready_;
  std::map<CallbackPlace, CallbackRecord> records_ GUARDED_BY(mutex_);
  std::map<std::string, CallbackCursor> cursors_ GUARDED_BY(mutex_);         // of tasks that request reports
  std::set<std::pair<std::int64_t, CallbackPlace>> due_ GUARDED_BY(mutex_);  // pending ones without an active attempt
  CircuitBreaker breaker_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::stop_source stop_;  // stops active attempts
  std::vector<std::thread> threads_;
};

}  // namespace shepherd
