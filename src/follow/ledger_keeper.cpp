#include "follow/ledger_keeper.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/scheduling.h"
#include "follow/limits.h"
#include "journal/limits.h"

namespace shepherd {
namespace {

constexpr ReadLimit kLedgerBatch{kLedgerBatchEvents, kFeedReadBytes};
constexpr std::int64_t kDaySeconds = 86'400;

}  // namespace

LedgerKeeper::LedgerKeeper(const EventStore& store, Ledger& ledger, MetricRegistry& metrics, const Clock& clock,
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

LedgerKeeper::~LedgerKeeper() {
  stopping_ = true;
  wake_.set();
  pause_.set();
  thread_.join();
}

void LedgerKeeper::run() {
  pthread_setname_np(pthread_self(), "ledger");
  run_in_background();
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

// Removes tasks that were deleted while the keeper did not run: in a crash, or since its backup.
void LedgerKeeper::forget_what_is_gone() {
  auto newest = store_.newest_place();
  if (newest) change_ = newest->change;
  auto tasks = ledger_.tasks();
  if (!tasks) return;  // the first step reports the error
  for (std::size_t at = 0; at < tasks->size() && !stopping_; at += kLedgerTasksPerLook) {
    auto end = std::min(at + kLedgerTasksPerLook, tasks->size());
    std::vector<std::string> some(tasks->begin() + static_cast<std::ptrdiff_t>(at),
                                  tasks->begin() + static_cast<std::ptrdiff_t>(end));
    auto heads = store_.heads(some);
    if (!heads) return;
    for (const std::string& task : some) {
      if (!heads->contains(task)) gone_.push_back(task);
    }
  }
}

// Runs when the keeper is otherwise idle, so that many deletions share one purge.
Result<bool> LedgerKeeper::purge() {
  if (!purge_due_) return false;
  if (auto purged = ledger_.purge(); !purged) return fail(purged.error());
  purge_due_ = false;
  return false;
}

Result<bool> LedgerKeeper::trim() {
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

Result<bool> LedgerKeeper::step() {
  auto through = ledger_.kept_through();
  if (!through) return fail(through.error());
  auto page = store_.changes({*through, change_}, kLedgerBatch);
  if (!page) return fail(page.error());
  if (page->lost) {
    // The ledger lags so far that deletions are no longer kept. Its events are: it looks for what is gone and reads on.
    forget_what_is_gone();
    return true;
  }
  LedgerBatch batch;
  batch.forgotten = gone_;
  Place reached = page->through;
  auto deleted = std::ranges::find(page->changes, ChangeKind::task_deleted, &Change::kind);
  if (deleted != page->changes.end()) {
    reached = {std::max(deleted->after, *through), deleted->number};
    batch.forgotten.push_back(deleted->name);
  }
  batch.through = reached.position;
  std::uint64_t head = page->newest.position;
  lag_.set(head > *through ? static_cast<std::int64_t>(head - *through) : 0);
  if (batch.through <= *through && batch.forgotten.empty()) {
    change_ = reached.change;
    return !reached.covers(page->newest);
  }
  for (const BatchPtr& stored : page->batches) {
    if (stored->last_position() > batch.through) break;
    if (auto entered = books_.enter(batch, *stored, *through); !entered) return fail(entered.error());
  }
  for (const std::string& task : batch.forgotten) books_.forget_task(task);
  books_.leave_states(batch);
  auto added = ledger_.add(batch);
  if (!added) return fail(added.error());
  change_ = reached.change;
  gone_.clear();
  purge_due_ = purge_due_ || !batch.forgotten.empty();
  figures_.take(batch);
  figures_.forget_tools(*added);
  lag_.set(head > batch.through ? static_cast<std::int64_t>(head - batch.through) : 0);
  return true;
}

}  // namespace shepherd
