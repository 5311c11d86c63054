#include "fleet/ledger_keeper.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/scheduling.h"
#include "fleet/bookkeeping.h"
#include "fleet/fleet_limits.h"
#include "fleet/wake_signal.h"

namespace shepherd {
namespace {

constexpr ReadLimit kBatch{kLedgerBatchEvents, kFeedReadBytes};

class StoreLedgerKeeper final : public LedgerKeeper {
 public:
  StoreLedgerKeeper(const EventStore& store, Ledger& ledger, MetricRegistry& metrics)
      : store_(store),
        ledger_(ledger),
        books_(store, ledger),
        lag_(metrics.gauge("shepherd_ledger_lag_events", "Committed events that the ledger does not have yet.")),
        failures_(metrics.counter("shepherd_ledger_failures_total", "Batches of the ledger that failed.")),
        thread_([this] { run(); }) {}

  ~StoreLedgerKeeper() override {
    stopping_ = true;
    wake_.set();
    pause_.set();
    thread_.join();
  }

  void wake() override { wake_.set(); }
  const Ledger& ledger() const override { return ledger_; }

  void forget_task(const std::string& task) override EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      forgotten_.push_back(task);
    }
    wake_.set();
  }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "ledger");
    run_when_idle();
    while (!stopping_) {
      auto more = step();
      if (!more) {
        failures_.add();
        log_warn("adding to the ledger failed, trying again: {}", more.error().message);
        books_.start_over();
        pause_.wait_for(kIndexRetry);
      } else if (*more) {
        pause_.wait_for(kLedgerPause);  // what comes meanwhile shares a transaction
      } else {
        wake_.wait();
      }
    }
  }

  // Adds one batch; false when there is nothing left.
  Result<bool> step() EXCLUDES(mutex_) {
    auto through = ledger_.kept_through();
    if (!through) return fail(through.error());
    auto page = store_.read_all(*through, kBatch);
    if (!page) return fail(page.error());
    LedgerBatch batch;
    batch.through = page->runs.empty() ? page->head : page->runs.back()->last_position();
    batch.forgotten = take_forgotten();
    lag_.set(page->head > *through ? static_cast<std::int64_t>(page->head - *through) : 0);
    if (batch.through <= *through && batch.forgotten.empty()) return false;
    for (const RunPtr& run : page->runs) {
      if (auto entered = books_.enter(batch, *run, *through); !entered) return give_back(batch, entered.error());
    }
    for (const std::string& task : batch.forgotten) books_.forget_task(task);
    books_.leave_states(batch);
    if (auto added = ledger_.add(batch); !added) return give_back(batch, added.error());
    lag_.set(page->head > batch.through ? static_cast<std::int64_t>(page->head - batch.through) : 0);
    return true;
  }

  std::vector<std::string> take_forgotten() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return std::exchange(forgotten_, {});
  }

  Result<bool> give_back(const LedgerBatch& batch, const Error& error) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    forgotten_.insert(forgotten_.end(), batch.forgotten.begin(), batch.forgotten.end());
    return fail(error);
  }

  const EventStore& store_;
  Ledger& ledger_;
  Bookkeeping books_;  // the thread's own
  Gauge& lag_;
  Counter& failures_;
  std::atomic<bool> stopping_{false};
  WakeSignal wake_;
  WakeSignal pause_;  // set only to stop
  Mutex mutex_;
  std::vector<std::string> forgotten_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<LedgerKeeper> LedgerKeeper::start(const EventStore& store, Ledger& ledger, MetricRegistry& metrics) {
  return std::make_unique<StoreLedgerKeeper>(store, ledger, metrics);
}

}  // namespace shepherd
