#include "base/lane.h"

#include <pthread.h>

#include <utility>

namespace shepherd {
namespace {

std::string labels(const std::string& name) {
  return "lane=\"" + name + "\"";
}

}  // namespace

Lane::Lane(LaneOptions options, MetricRegistry& metrics)
    : options_(std::move(options)),
      waiting_(metrics.gauge("shepherd_lane_waiting", "Pieces of work that wait for a thread of a lane.",
                             labels(options_.name))),
      refused_(metrics.counter("shepherd_lane_refused_total", "Requests refused because a lane's queue was full.",
                               labels(options_.name))),
      abandoned_(metrics.counter("shepherd_lane_abandoned_total",
                                 "Requests whose client went away before a lane had done their work.",
                                 labels(options_.name))) {
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), options_.name.substr(0, 15).c_str());
  }
}

Lane::~Lane() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Lane::add(std::string_view caller, Item item, bool first) {
  auto& [name, queue] = *queues_.try_emplace(std::string(caller)).first;
  first ? queue.items.push_front(std::move(item)) : queue.items.push_back(std::move(item));
  if (!std::exchange(queue.in_turn, true)) turns_.push_back(&name);
  ++queued_;
  waiting_.add(1);
}

void Lane::post(Work work) {
  {
    MutexLock lock(mutex_);
    add("", {[work = std::move(work)](Turn) mutable { work(); }}, false);
  }
  ready_.notify_one();
}

void Lane::offer(std::string_view caller, LaneWork work) {
  {
    MutexLock lock(mutex_);
    auto known = queues_.find(std::string(caller));
    bool anew = known == queues_.end();
    if (queued_ < options_.max_queued && (anew || known->second.items.size() < options_.max_per_caller)) {
      bool at_once = queued_ == 0 && running_ < options_.threads && (anew || known->second.running < share_of(caller));
      add(caller, {std::move(work), at_once ? Turn::at_once : Turn::waited}, false);
      ready_.notify_one();
      return;
    }
  }
  refused_.add();
  work(Turn::refused);
}

void Lane::go_on(std::string_view caller, LaneWork work) {
  {
    MutexLock lock(mutex_);
    add(caller, {std::move(work)}, true);
  }
  ready_.notify_one();
}

const std::string* Lane::next_caller() {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    const std::string* caller = *turn;
    if (queues_.at(*caller).running >= share_of(*caller)) continue;
    turns_.erase(turn);
    return caller;
  }
  return nullptr;
}

Lane::Running Lane::take() {
  MutexLock lock(mutex_);
  const std::string* caller = next_caller();
  for (; caller == nullptr; caller = next_caller()) {
    if (stopping_ && queued_ == 0) return {};
    ready_.wait(mutex_);
  }
  Queue& queue = queues_.at(*caller);
  Running running{caller, std::move(queue.items.front())};
  queue.items.pop_front();
  queue.in_turn = !queue.items.empty();
  if (queue.in_turn) turns_.push_back(caller);
  ++queue.running;
  ++running_;
  --queued_;
  waiting_.add(-1);
  return running;
}

void Lane::ended(const std::string& caller) {
  MutexLock lock(mutex_);
  auto queue = queues_.find(caller);
  --running_;
  --queue->second.running;
  if (queue->second.items.empty() && queue->second.running == 0) queues_.erase(queue);
  // Other threads may wait because this caller had its share of them, or for the end.
  if (!turns_.empty() || stopping_) ready_.notify_all();
}

void Lane::run() {
  for (;;) {
    Running running = take();
    if (running.caller == nullptr) return;
    running.item.work(running.item.turn);
    running.item.work = nullptr;  // releases what it holds before the caller's next work runs
    ended(*running.caller);
  }
}

}  // namespace shepherd
