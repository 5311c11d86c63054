#include "follow/retention.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "follow/limits.h"

namespace shepherd {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

using Drops = std::map<std::string, std::uint64_t>;  // task -> its batches through this sequence

struct Due {
  std::vector<Drops> steps;  // each at most kRetentionBatchesPerStep batches
  bool more = false;
};

// Returns by how many bytes the store exceeds its bound.
Result<std::uint64_t> excess_bytes(const EventStore& store, std::uint64_t bound) {
  if (bound == 0) return 0;
  auto stats = store.stats();
  if (!stats) return fail(stats.error());
  // The size includes what deleted tasks left; dropping other events for it would drop too many.
  if (stats->leftover_tasks > 0) return 0;
  return stats->content_bytes > bound ? stats->content_bytes - bound : 0;
}

// Returns the newest sequences of those tasks in `batches` that are still running.
Result<std::map<std::string, std::uint64_t>> pinned(const EventStore& store, const std::vector<BatchInfo>& batches) {
  std::set<std::string> tasks;
  for (const BatchInfo& batch : batches) tasks.insert(batch.task);
  auto heads = store.heads({tasks.begin(), tasks.end()});
  if (!heads) return heads;
  std::map<std::string, std::uint64_t> out;
  for (const BatchInfo& batch : batches) {
    auto head = heads->find(batch.task);
    if (head == heads->end() || head->second != batch.last) continue;
    auto task = store.row(batch.task);
    if (task && !is_terminal(task->state.state)) out.insert(*head);
  }
  return out;
}

Result<Due> find_due(const EventStore& store, const RetentionPolicy& policy, std::int64_t now_ms) {
  auto excess = excess_bytes(store, policy.bytes);
  if (!excess) return fail(excess.error());
  bool by_age = policy.days > 0;
  if (!by_age && *excess == 0) return Due{};
  std::int64_t cutoff_ms = now_ms - policy.days * kDayMs;

  for (std::size_t limit = kRetentionBatchesPerStep;; limit *= 2) {
    auto batches = store.oldest_batches(limit);
    if (!batches) return fail(batches.error());
    auto kept = pinned(store, *batches);
    if (!kept) return fail(kept.error());
    Due due;
    std::size_t dropped = 0, step_batches = 0, step_events = 0;
    std::uint64_t freed = 0;
    bool reached_young = false;
    for (const BatchInfo& batch : *batches) {
      bool old = by_age && batch.received_ms < cutoff_ms;
      if (!old && freed >= *excess) {
        reached_young = true;
        continue;
      }
      auto pin = kept->find(batch.task);
      if (pin != kept->end() && pin->second == batch.last) continue;
      bool full = step_batches == kRetentionBatchesPerStep || step_events >= kRetentionEventsPerStep;
      if (due.steps.empty() || full) {
        due.steps.emplace_back();
        step_batches = step_events = 0;
      }
      ++dropped;
      ++step_batches;
      step_events += batch.last - batch.first + 1;
      due.steps.back()[batch.task] = batch.last;
      freed += batch.bytes;
    }
    bool saw_all = batches->size() < limit || reached_young;
    // By size, one round must suffice: the store's size shrinks only some time after its deletes, and a second look at
    // once would drop more than necessary.
    due.more = !saw_all && dropped > 0 && *excess == 0;
    if (saw_all || limit >= kMaxRetentionBatches) return due;
  }
}

// The rest of a round: its steps run one after the other, each as its own transaction.
struct Round {
  Journal& journal;
  Due due;
  std::move_only_function<void(Result<bool>)> done;
  std::size_t next = 0;
};

void drop_next(const std::shared_ptr<Round>& round) {
  if (round->next == round->due.steps.size()) return round->done(round->due.more);
  round->journal.drop(std::move(round->due.steps[round->next++]), [round](const Result<void>& dropped) {
    if (!dropped) return round->done(fail(dropped.error()));
    drop_next(round);
  });
}

}  // namespace

void retention_step(Journal& journal, const RetentionPolicy& policy, const Clock& clock,
                    std::move_only_function<void(Result<bool>)> done, Indexer* indexer) {
  auto due = find_due(journal.store(), policy, clock.wall_ms());
  if (!due) return done(fail(due.error()));
  if (indexer != nullptr) {
    Drops all;
    for (const Drops& drops : due->steps) {
      for (const auto& [task, last] : drops) all[task] = last;
    }
    for (const auto& [task, last] : all) {
      auto forgotten = indexer->forget_through(task, last);
      // The index is derived data, so it must not keep retention from freeing the disk.
      if (!forgotten) log_warn("retention: words of {} stay in the search index: {}", task, forgotten.error().message);
    }
  }
  drop_next(std::make_shared<Round>(journal, std::move(*due), std::move(done)));
}

}  // namespace shepherd
