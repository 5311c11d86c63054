#include "hub/hub.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "hub/limits.h"

namespace shepherd {

Hub::Hub(const Clock& clock, MetricRegistry& metrics, std::size_t task_events)
    : clock_(clock),
      task_events_(task_events),
      published_(metrics.counter("shepherd_hub_events_total", "Committed events that a watched log's tail took in")),
      bytes_(metrics.gauge("shepherd_hub_tail_bytes", "Memory of all tails")),
      tails_count_(metrics.gauge("shepherd_hub_tails", "Logs whose newest events are kept in memory")) {}

std::shared_ptr<Tail> Hub::tail(const std::string& task) {
  MutexLock lock(mutex_);
  auto& kept = tails_[task];
  if (!kept.tail) {
    kept.tail = std::make_shared<Tail>(task, task.empty() ? kAllTailEvents : task_events_);
    tails_count_.set(static_cast<std::int64_t>(tails_.size()));
  }
  kept.used_ms = kept.held_ms = clock_.steady_ms();
  return kept.tail;
}

std::shared_ptr<Tail> Hub::find(const std::string& task) const {
  MutexLock lock(mutex_);
  auto found = tails_.find(task);
  return found == tails_.end() ? nullptr : found->second.tail;
}

void Hub::collect(Wakes& wakes, const std::shared_ptr<Tail>& tail, const std::vector<Executor*>& executors) {
  for (Executor* executor : executors) {
    auto known = std::find_if(wakes.begin(), wakes.end(), [&](const auto& wake) { return wake.first == executor; });
    if (known == wakes.end()) known = wakes.insert(wakes.end(), {executor, {}});
    known->second.push_back(tail);
  }
}

void Hub::wake(Wakes wakes) {
  for (auto& [executor, tails] : wakes) {
    executor->post([executor = executor, tails = std::move(tails)]() mutable { drain(executor, std::move(tails)); });
  }
}

void Hub::drain(Executor* executor, std::vector<std::shared_ptr<Tail>> tails) {
  std::size_t most = kFeedsPerTurn;
  auto tail = tails.begin();
  while (tail != tails.end() && most > 0 && !(*tail)->drain(executor, most)) ++tail;
  tails.erase(tails.begin(), tail);
  if (tails.empty()) return;
  // The rest waits for another turn, so that events arriving meanwhile are committed and sent together with it.
  executor->post([executor, tails = std::move(tails)]() mutable { drain(executor, std::move(tails)); });
}

Hub::Wakes Hub::take_in(std::span<const BatchPtr> batches) {
  std::vector<std::pair<std::shared_ptr<Tail>, const BatchPtr*>> targets;
  {
    MutexLock lock(mutex_);
    if (tails_.empty()) return {};
    auto all = tails_.find("");
    std::int64_t now_ms = clock_.steady_ms();
    for (std::size_t i = 1; i < batches.size(); ++i) {
      SHEPHERD_ASSERT(batches[i - 1]->last_position() < batches[i]->position, "batches come in commit order");
    }
    for (const auto& batch : batches) {
      if (auto found = tails_.find(batch->task); found != tails_.end()) {
        found->second.used_ms = now_ms;
        targets.emplace_back(found->second.tail, &batch);
        published_.add(batch->size());
      }
      if (all != tails_.end()) targets.emplace_back(all->second.tail, &batch);
    }
  }
  Wakes wakes;
  std::vector<Executor*> executors;
  for (const auto& [tail, batch] : targets) {
    executors.clear();
    tail->publish(*batch, executors);
    collect(wakes, tail, executors);
  }
  return wakes;
}

void Hub::publish_to(const std::string& task, std::span<const BatchPtr> batches) {
  auto tail = find(task);
  if (!tail) return;
  Wakes wakes;
  std::vector<Executor*> executors;
  for (const auto& batch : batches) tail->publish(batch, executors);
  collect(wakes, tail, executors);
  wake(std::move(wakes));
}

std::optional<std::uint64_t> Hub::head(const std::string& task) const {
  auto tail = find(task);
  if (!tail) return std::nullopt;
  return tail->head();
}

void Hub::publish_delta(const std::string& task, const std::string& data) {
  Wakes wakes;
  std::uint64_t id = deltas_.fetch_add(1, std::memory_order_acq_rel) + 1;
  for (const auto& tail : {find(task), find("")}) {
    if (!tail) continue;
    std::vector<Executor*> executors;
    tail->publish_delta(id, task, data, executors);
    collect(wakes, tail, executors);
  }
  wake(std::move(wakes));
}

void Hub::advance_head(const std::string& task, std::uint64_t head, const std::string& complete) {
  auto tail = find(task);
  if (!tail) return;
  Wakes wakes;
  std::vector<Executor*> executors;
  tail->advance_head(head, complete, executors);
  collect(wakes, tail, executors);
  wake(std::move(wakes));
}

void Hub::evict(const std::string& task) {
  for (const auto& tail : {find(task), find("")}) {
    if (tail) tail->evict();
  }
}

void Hub::forget_deleted(const std::string& task) {
  evict(task);
  std::shared_ptr<Tail> tail;
  {
    MutexLock lock(mutex_);
    auto found = tails_.find(task);
    if (found == tails_.end()) return;
    tail = std::move(found->second.tail);
    tails_.erase(found);
  }
  Wakes wakes;
  std::vector<Executor*> executors;
  tail->forget_deleted(executors);
  collect(wakes, tail, executors);
  wake(std::move(wakes));
}

std::vector<std::string> Hub::watched() const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [task, kept] : tails_) {
    if (kept.tail.use_count() > 1) names.push_back(task);
  }
  return names;
}

void Hub::age() {
  std::vector<std::pair<std::int64_t, std::shared_ptr<Tail>>> by_use;
  {
    MutexLock lock(mutex_);
    std::int64_t now_ms = clock_.steady_ms();
    for (auto at = tails_.begin(); at != tails_.end();) {
      if (at->second.tail.use_count() > 1) at->second.held_ms = now_ms;
      if (now_ms - at->second.held_ms > kTailLinger.count()) {
        at = tails_.erase(at);
      } else {
        by_use.emplace_back(at->second.used_ms, at->second.tail);
        ++at;
      }
    }
    tails_count_.set(static_cast<std::int64_t>(tails_.size()));
  }
  std::size_t total = 0;
  for (const auto& [used_ms, tail] : by_use) total += tail->bytes();
  if (total > kHubBytes) {
    std::sort(by_use.begin(), by_use.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [used_ms, tail] : by_use) {
      if (total <= kHubBytes) break;
      total -= std::min(total, tail->bytes());
      tail->evict();
    }
  }
  bytes_.set(static_cast<std::int64_t>(total));
}

}  // namespace shepherd
