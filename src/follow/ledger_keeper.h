// Keeps the ledger behind the store: reads committed events in position order and adds them up, on a thread of the
// lowest priority, so that ingest always comes first.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/result.h"
#include "follow/bookkeeping.h"
#include "follow/limits.h"
#include "follow/wake_signal.h"
#include "store/event_store.h"
#include "store/ledger.h"
#include "views/agent_figures.h"

namespace shepherd {

// How long figures are kept. They are small, so this is longer than events are.
struct LedgerPolicy {
  int days = kLedgerDays;              // 0: forever
  std::uint64_t bytes = kLedgerBytes;  // then the oldest days go first; 0: no bound
};

// Owns its thread (SCHED_IDLE). The destructor stops after the current batch. Where retention left a gap, it continues
// after it. When store or ledger fail, it waits kIndexRetry and tries again. At first and every kLedgerTrimInterval it
// drops what the policy no longer keeps.
// Threads: any.
class LedgerKeeper {
 public:
  // All of them must outlive it. Only the keeper may add to the ledger meanwhile.
  LedgerKeeper(const EventStore& store, Ledger& ledger, MetricRegistry& metrics, const Clock& clock,
               const LedgerPolicy& policy = {});
  ~LedgerKeeper();
  LedgerKeeper(const LedgerKeeper&) = delete;
  LedgerKeeper& operator=(const LedgerKeeper&) = delete;

  void wake() { wake_.set(); }  // there is something new; cheap and lock-free, may be called per commit
  void forget_task(const std::string& task) EXCLUDES(mutex_);  // it was deleted from the store
  const Ledger& ledger() const { return ledger_; }
  const AgentFigures& figures() const { return figures_; }  // what it has added since it started

 private:
  void run() EXCLUDES(mutex_);
  void forget_what_is_gone() EXCLUDES(mutex_);
  Result<bool> purge();
  // Drops a little of what is no longer kept; false when nothing is due.
  Result<bool> trim();
  // Adds one batch; false when there is nothing left.
  Result<bool> step() EXCLUDES(mutex_);
  std::vector<std::string> take_forgotten() EXCLUDES(mutex_);
  Result<bool> give_back(const LedgerBatch& batch, const Error& error) EXCLUDES(mutex_);

  const EventStore& store_;
  Ledger& ledger_;
  const Clock& clock_;
  const LedgerPolicy policy_;
  AgentFigures figures_;
  Bookkeeping books_;         // this and the next two: the thread's own
  std::int64_t trim_ms_ = 0;  // not before
  bool purge_due_ = false;
  Gauge& lag_;
  Counter& failures_;
  std::atomic<bool> stopping_{false};
  WakeSignal wake_;
  WakeSignal pause_;  // set only to stop
  Mutex mutex_;
  std::vector<std::string> forgotten_ GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
