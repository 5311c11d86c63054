// Updates the ledger after the store: reads committed events in position order and adds them up on a thread of the
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
#include "base/result.h"
#include "follow/bookkeeping.h"
#include "follow/limits.h"
#include "follow/wake_signal.h"
#include "store/event_store.h"
#include "store/ledger.h"
#include "views/agent_figures.h"

namespace shepherd {

// How long figures are kept. They are small, so they are kept longer than events.
struct LedgerPolicy {
  int days = kLedgerDays;              // 0 means forever
  std::uint64_t bytes = kLedgerBytes;  // beyond this the oldest days go first; 0 means no bound
};

// Owns its thread (nice 19). The destructor stops after the current batch. It continues after a gap that retention
// left. If store or ledger fail, it waits kIndexRetry and tries again. At the start and every kLedgerTrimInterval it
// drops what the policy no longer keeps.
// Threads: any.
class LedgerKeeper {
 public:
  // All of them must outlive it; no other component may add to the ledger meanwhile.
  LedgerKeeper(const EventStore& store, Ledger& ledger, MetricRegistry& metrics, const Clock& clock,
               const LedgerPolicy& policy = {});
  ~LedgerKeeper();
  LedgerKeeper(const LedgerKeeper&) = delete;
  LedgerKeeper& operator=(const LedgerKeeper&) = delete;

  void wake() { wake_.set(); }  // new events were committed; cheap and lock-free, so it may be called per commit
  const Ledger& ledger() const { return ledger_; }
  const AgentFigures& figures() const { return figures_; }  // the figures added since the start

 private:
  void run();
  void forget_what_is_gone();
  Result<bool> purge();
  // Drops a part of what is no longer kept; returns false if nothing is due.
  Result<bool> trim();
  // Adds one batch; returns false if nothing is left. A deletion ends a batch, so that events of a task that was
  // created again come after it.
  Result<bool> step();

  const EventStore& store_;
  Ledger& ledger_;
  const Clock& clock_;
  const LedgerPolicy policy_;
  AgentFigures figures_;
  Bookkeeping books_;              // the thread owns this and the next ones
  std::uint64_t change_ = 0;       // the last change that is done; a start looks for what is gone instead of reading on
  std::vector<std::string> gone_;  // found by that look
  std::int64_t trim_ms_ = 0;       // time of the next trim, at the earliest
  bool purge_due_ = false;
  Gauge& lag_;
  Counter& failures_;
  std::atomic<bool> stopping_{false};
  WakeSignal wake_;
  WakeSignal pause_;    // set only to stop
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace shepherd
