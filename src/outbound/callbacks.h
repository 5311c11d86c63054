// Reports a task's end and, if requested, its earlier reports: POSTs to its callbackURL until the receiver accepts it
// or the attempts are used up. The record beside the task (pending, sent, failed) is written in a transaction before
// the first attempt and claimed before each, so after a crash at any time another attempt follows with the same
// webhook-id: at least once, never two in flight for one task, also if several processes use the store. First attempts
// of one task keep the order of its log.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "journal/journal.h"
#include "outbound/callback_attempts.h"
#include "outbound/callback_config.h"
#include "outbound/callback_record.h"

namespace shepherd {

// Finds the callbacks in the change stream; CallbackAttempts sends them. Threads: any.
class Callbacks {
 public:
  Callbacks(CallbackParts parts, CallbackConfig config);
  ~Callbacks();  // like stop()
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;

  // Reads the pending callbacks; attempts begin.
  Result<void> start();
  // Gives up active attempts, which then do not count. Pending callbacks continue after the next start.
  void stop();
  // Begins what is due. Call about every kServerTick.
  void tick();

  // Takes in what follows in the change stream. Calls done(true) once the resulting callbacks can no longer be lost.
  // Reads the store, one call at a time.
  void take(const News& news, std::move_only_function<void(bool)> done) EXCLUDES(mutex_);
  // The state of the callback for its end; nullopt if the task has not ended or has no callback.
  std::optional<CallbackRecord> find(const std::string& task) const;

 private:
  using Drops = std::map<std::string, std::set<CallbackPlace>>;
  // `fresh`: what is remembered is of a deleted task with the same id. Returns false if the log cannot be read.
  bool look(const TaskRow& task, bool fresh, std::vector<NewCallbacks>& found);
  void take_in(const Drops& drops, const std::vector<NewCallbacks>& found) EXCLUDES(mutex_);
  void remember_unsure(const std::vector<NewCallbacks>& found) EXCLUDES(mutex_);
  void learn(const std::vector<Change>& changes);

  Journal& journal_;
  const bool sole_process_;
  const std::shared_ptr<CallbackAttempts> attempts_;
  Mutex mutex_;
  std::map<std::string, std::set<CallbackPlace>> unsure_
      GUARDED_BY(mutex_);  // by task: the failed write may have added
};

}  // namespace shepherd
