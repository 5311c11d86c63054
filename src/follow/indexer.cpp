#include "follow/indexer.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/log.h"
#include "base/scheduling.h"
#include "follow/limits.h"
#include "journal/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr ReadLimit kIndexBatch{kIndexBatchEvents, kFeedReadBytes};

}  // namespace

Indexer::Indexer(const EventStore& store, SearchIndex& index, MetricRegistry& metrics)
    : store_(store),
      index_(index),
      position_(metrics.gauge("shepherd_search_indexed_position", "Newest global position in the search index.")),
      lag_(metrics.gauge("shepherd_search_lag_events", "Committed events that the search index does not have yet.")),
      failures_(metrics.counter("shepherd_search_index_failures_total", "Indexing batches that failed.")),
      thread_([this] { run(); }) {}

Indexer::~Indexer() {
  stopping_ = true;
  wake_.set();
  retry_.set();
  thread_.join();
}

Result<void> Indexer::forget_task(const std::string& task) {
  auto forgotten = forget_through(task, std::numeric_limits<std::uint64_t>::max());
  if (!forgotten && forgotten.error().code == ErrorCode::not_found) return {};
  purge_ = true;
  wake_.set();
  return forgotten;
}

Result<void> Indexer::forget_through(const std::string& task, std::uint64_t sequence) {
  MutexLock lock(mutex_);
  auto through = index_.indexed_through();
  if (!through) return fail(through.error());
  auto heads = store_.heads({""});
  if (!heads) return fail(heads.error());
  if (std::uint64_t head = (*heads)[""]; head > *through) {
    // Events that are committed but not indexed yet must not enter the index later.
    Forgotten& forgotten = forgotten_[task];
    forgotten.sequence = std::max(forgotten.sequence, sequence);
    forgotten.position = std::max(forgotten.position, head);
  }
  return remove(task, sequence);
}

void Indexer::run() {
  pthread_setname_np(pthread_self(), "indexer");
  run_in_background();
  while (!stopping_) {
    auto begin = std::chrono::steady_clock::now();
    std::uint64_t head = head_;
    auto more = step();
    if (more && *more && head_ != head) {
      // While events keep arriving, they have priority on the disk; the index catches up later.
      auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
      retry_.wait_for(took * kIndexRestRatio);
    }
    if (!more) {
      failures_.add();
      log_warn("indexing for search failed, trying again: {}", more.error().message);
      retry_.wait_for(kIndexRetry);
    } else if (!*more && purge_.exchange(false)) {
      if (auto purged = purge(); !purged) {
        log_warn("words of deleted tasks are still in the search index's file: {}", purged.error().message);
        purge_ = true;
        retry_.wait_for(kIndexRetry);
      }
    } else if (!*more) {
      wake_.wait();
    }
  }
}

Result<void> Indexer::purge() {
  MutexLock lock(mutex_);
  return index_.purge();
}

Result<bool> Indexer::step() {
  auto through = index_.indexed_through();
  if (!through) return fail(through.error());
  auto page = store_.read_all(*through, kIndexBatch);
  if (!page) return fail(page.error());
  position_.set(static_cast<std::int64_t>(*through));
  lag_.set(page->head > *through ? static_cast<std::int64_t>(page->head - *through) : 0);
  head_ = page->head;
  if (page->batches.empty() && page->head <= *through) return false;

  std::uint64_t last = page->batches.empty() ? page->head : page->batches.back()->last_position();
  std::vector<SearchEntry> entries;
  for (const BatchPtr& batch : page->batches)
    append_entries(entries, *batch, *through, std::numeric_limits<std::uint64_t>::max());
  {
    MutexLock lock(mutex_);
    leave_out_forgotten(entries, page->batches);
    if (auto added = index_.add(entries, last); !added) return fail(added.error());
    std::erase_if(forgotten_, [&](const auto& entry) { return entry.second.position <= last; });
  }
  position_.set(static_cast<std::int64_t>(last));
  lag_.set(page->head > last ? static_cast<std::int64_t>(page->head - last) : 0);
  return true;
}

void Indexer::append_entries(std::vector<SearchEntry>& entries, const EventBatch& batch, std::uint64_t after,
                             std::uint64_t through) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch.position + i <= after || batch.first + i > through) continue;
    entries.push_back({batch.position + i, searchable_text(batch.event(i), kMaxIndexedBytes)});
  }
}

void Indexer::leave_out_forgotten(std::vector<SearchEntry>& entries, const std::vector<BatchPtr>& batches) {
  if (forgotten_.empty()) return;
  for (const BatchPtr& batch : batches) {
    auto known = forgotten_.find(batch->task);
    if (known == forgotten_.end() || known->second.sequence < batch->first) continue;
    std::uint64_t by_sequence = batch->position + std::min(known->second.sequence - batch->first, batch->size() - 1);
    std::uint64_t last = std::min(by_sequence, known->second.position);
    std::erase_if(
        entries, [&](const SearchEntry& entry) { return entry.position >= batch->position && entry.position <= last; });
  }
}

Result<void> Indexer::remove(const std::string& task, std::uint64_t through) {
  for (std::uint64_t after = 0; after < through;) {
    auto page = store_.read(task, after, kIndexBatch);
    if (!page) return fail(page.error());
    if (page->batches.empty()) return {};
    std::vector<SearchEntry> entries;
    for (const BatchPtr& batch : page->batches) append_entries(entries, *batch, 0, through);
    if (auto removed = index_.remove(entries); !removed) return removed;
    after = page->batches.back()->last();
  }
  return {};
}

}  // namespace shepherd
