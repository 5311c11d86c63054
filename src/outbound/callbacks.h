// Tells others that a task has ended, and what was reported of it before if it asks for that: POSTs to its callbackURL
// until the receiver takes it or the attempts are used up. The record beside the task (pending, sent, failed) is
// written in a transaction before the first attempt and claimed before each, so a crash at any instant leads to another
// attempt with the same webhook-id: at least once, never two in flight. First attempts of one task keep the order of
// its log.
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
#include "net/client.h"
#include "outbound/callback_config.h"
#include "outbound/callback_record.h"
#include "outbound/circuit_breaker.h"

namespace shepherd {

// Sends one request and answers its HTTP status. Blocks, at most kCallbackTimeout and not beyond a stop.
using PostCallback = std::function<Result<int>(const net::Url& url, const net::HeaderList& headers,
                                               std::string_view body, const std::stop_token& stop)>;
// The real one: refuses forbidden addresses after resolving, follows no redirects.
Result<int> post_callback(const net::Url& url, const net::HeaderList& headers, std::string_view body,
                          const std::stop_token& stop);

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
  ~Callbacks();  // as stop()
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  // Reads what is pending and starts the threads.
  Result<void> start() EXCLUDES(mutex_);
  // Gives attempts up that are under way: they do not count. What is pending goes on after the next start.
  void stop() EXCLUDES(mutex_);

  // Something happened to these tasks. done(true) when the callbacks that follow from it can no longer be lost. Reads
  // the store, one call at a time.
  void changed(const std::vector<Task>& tasks, std::move_only_function<void(bool)> done) EXCLUDES(mutex_);
  void forget(const std::string& task) EXCLUDES(mutex_);
  // How far that of its end has come; nullopt when the task has not ended, or has no callback.
  std::optional<CallbackRecord> find(const std::string& task) const EXCLUDES(mutex_);

  // Makes one attempt that is due, on this thread; false when none is. The threads do this; tests do, too.
  bool step() EXCLUDES(mutex_);

 private:
  struct Outcome {
    bool sent = false;
    bool final = false;     // no further attempt can help
    bool given_up = false;  // by stop(): it says nothing about the receiver
    int status = 0;
    std::string error;
  };
  void run() EXCLUDES(mutex_);
  // What one call of changed() found.
  struct News {
    std::vector<CallbackPlace> places;
    std::map<std::string, CallbackCursor> cursors;
  };
  // False when the log cannot be read.
  bool look(const Task& task, News& news) EXCLUDES(mutex_);
  bool look_for_reports(const Task& task, CallbackCursor& cursor, std::vector<CallbackPlace>& found) const;
  void take_in(const News& news) EXCLUDES(mutex_);
  std::optional<CallbackPlace> take_due() REQUIRES(mutex_);
  void schedule(const CallbackPlace& place, std::int64_t at_ms) REQUIRES(mutex_);
  // An earlier one of the task has not been tried yet, or is on its way.
  bool must_wait(const CallbackPlace& place) const REQUIRES(mutex_);
  void attempt(const CallbackPlace& place) EXCLUDES(mutex_);
  Outcome send(const Task& task, const CallbackPlace& place) EXCLUDES(mutex_);
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
  std::map<std::string, CallbackCursor> cursors_ GUARDED_BY(mutex_);  // of tasks that want reports told
  std::set<std::pair<std::int64_t, CallbackPlace>> due_
      GUARDED_BY(mutex_);  // pending ones without an attempt under way
  CircuitBreaker breaker_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::stop_source stop_;  // of the attempts under way
  std::vector<std::thread> threads_;
};

}  // namespace shepherd
