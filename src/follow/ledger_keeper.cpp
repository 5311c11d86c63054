#include "follow/ledger_keeper.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/scheduling.h"
#include "follow/bookkeeping.h"
#include "follow/limits.h"
#include "follow/wake_signal.h"
#include "journal/limits.h"

namespace shepherd {
namespace {

constexpr ReadLimit kLedgerBatch{kLedgerBatchEvents, kFeedReadBytes};
constexpr std::int64_t kDaySeconds = 86'400;

class StoreLedgerKeeper final : public LedgerKeeper {
 public:
  StoreLedgerKeeper(const EventStore& store, Ledger& ledger, MetricRegistry& metrics, const Clock& clock,
                    const LedgerPolicy& policy)
      : store_(store),
        ledger_(ledger),
        clock_(clock),
        policy_(policy),
        figures_(clock.wall_ms()),
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
  const AgentFigures& figures() const override { return figures_; }

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
    forget_what_is_gone();
    while (!stopping_) {
      auto more = step();
      if (more && !*more) more = purge();
      if (more && !*more) more = trim();
      if (!more) {
        failures_.add();
        log_warn("adding to the ledger failed, trying again: {}", more.error().message);
        books_.start_over();
        pause_.wait_for(kIndexRetry);
      } else if (*more) {
        pause_.wait_for(kLedgerPause);  // events that arrive meanwhile share a transaction
      } else {
        wake_.wait_for(kLedgerTrimInterval);
      }
    }
  }

  // Removes tasks that were deleted while the ledger could not follow: during a crash, or since its backup.
  void forget_what_is_gone() EXCLUDES(mutex_) {
    auto tasks = ledger_.tasks();
    if (!tasks) return;  // the first step reports the error
    for (std::size_t at = 0; at < tasks->size() && !stopping_; at += kLedgerTasksPerLook) {
      auto end = std::min(at + kLedgerTasksPerLook, tasks->size());
      std::vector<std::string> some(tasks->begin() + static_cast<std::ptrdiff_t>(at),
                                    tasks->begin() + static_cast<std::ptrdiff_t>(end));
      auto heads = store_.heads(some);
      if (!heads) return;
      for (const std::string& task : some) {
        if (!heads->contains(task)) forget_task(task);
      }
    }
  }

  // Waits until the keeper is otherwise idle, so that many deletions share one purge.
  Result<bool> purge() {
    if (!purge_due_) return false;
    if (auto purged = ledger_.purge(); !purged) return fail(purged.error());
    purge_due_ = false;
    return false;
  }

  // Drops a part of what is no longer kept; returns false if nothing is due.
  Result<bool> trim() {
    if (clock_.steady_ms() < trim_ms_) return false;
    LedgerKeep keep;
    std::int64_t now = clock_.wall_ms() / 1'000;
    keep.minutes_from = now - kLedgerMinuteDays * kDaySeconds;
    keep.from = policy_.days == 0 ? 0 : now - policy_.days * kDaySeconds;
    keep.bytes = policy_.bytes;
    auto oldest = store_.read_all(0, {1, 1});
    if (!oldest) return fail(oldest.error());
    // A finding is only shown with its event.
    if (!oldest->batches.empty()) keep.findings_from = oldest->batches.front()->position;
    auto more = ledger_.trim(keep);
    if (more && !*more) trim_ms_ = clock_.steady_ms() + kLedgerTrimInterval.count();
    return more;
  }

  // Adds one batch; returns false if nothing is left.
  Result<bool> step() EXCLUDES(mutex_) {
    auto through = ledger_.kept_through();
    if (!through) return fail(through.error());
    auto page = store_.read_all(*through, kLedgerBatch);
    if (!page) return fail(page.error());
    LedgerBatch batch;
    batch.through = page->batches.empty() ? page->head : page->batches.back()->last_position();
    batch.forgotten = take_forgotten();
    lag_.set(page->head > *through ? static_cast<std::int64_t>(page->head - *through) : 0);
    if (batch.through <= *through && batch.forgotten.empty()) return false;
    for (const BatchPtr& stored : page->batches) {
      if (auto entered = books_.enter(batch, *stored, *through); !entered) return give_back(batch, entered.error());
    }
    for (const std::string& task : batch.forgotten) books_.forget_task(task);
    books_.leave_states(batch);
    auto added = ledger_.add(batch);
    if (!added) return give_back(batch, added.error());
    purge_due_ = purge_due_ || !batch.forgotten.empty();
    figures_.take(batch);
    figures_.forget_tools(*added);
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
  const Clock& clock_;
  const LedgerPolicy policy_;
  AgentFigures figures_;
  Bookkeeping books_;         // the thread owns this and the next two
  std::int64_t trim_ms_ = 0;  // time of the next trim, at the earliest
  bool purge_due_ = false;
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

std::unique_ptr<LedgerKeeper> LedgerKeeper::start(const EventStore& store, Ledger& ledger, MetricRegistry& metrics,
                                                  const Clock& clock, const LedgerPolicy& policy) {
  return std::make_unique<StoreLedgerKeeper>(store, ledger, metrics, clock, policy);
}

}  // namespace shepherd
