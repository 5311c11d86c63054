// Keeps the ledger behind the store: reads committed events in position order and adds them up, on a thread of the
// lowest priority, so that ingest always comes first.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "base/metrics.h"
#include "follow/limits.h"
#include "store/event_store.h"
#include "store/ledger.h"
#include "views/agent_figures.h"

namespace shepherd {

// How long figures are kept. They are small, so this is longer than events are.
struct LedgerPolicy {
  int days = kLedgerDays;              // 0: for ever
  std::uint64_t bytes = kLedgerBytes;  // then the oldest days go first; 0: no bound
};

// Owns its thread (SCHED_IDLE). The destructor stops after the current batch. Where retention left a gap it goes on
// after it. When store or ledger fail, it waits kIndexRetry and tries again. At first and every kLedgerTrimInterval it
// drops what the policy no longer keeps.
// Threads: any.
class LedgerKeeper {
 public:
  // All of them must outlive it; nobody else may add to the ledger meanwhile.
  static std::unique_ptr<LedgerKeeper> start(const EventStore& store, Ledger& ledger, MetricRegistry& metrics,
                                             const Clock& clock, const LedgerPolicy& policy = {});
  virtual ~LedgerKeeper() = default;
  virtual void wake() = 0;  // there is something new; cheap and lock-free, may be called per commit
  virtual void forget_task(const std::string& task) = 0;  // it was deleted from the store
  virtual const Ledger& ledger() const = 0;
  virtual const AgentFigures& figures() const = 0;  // what it has added since it started
};

}  // namespace shepherd
