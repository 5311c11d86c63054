// A lane: a few threads for one kind of blocking work (store reads, large bodies), with a bounded queue that callers
// share fairly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/executor.h"
#include "base/metrics.h"
#include "base/mutex.h"

namespace shepherd {

// How a lane calls a piece of work.
enum class Turn : std::uint8_t {
  refused,  // the queue is full; called inside offer(), instead of running
  at_once,  // no other work was in the way
  waited,   // other work was; the caller may have gone meanwhile
};
using LaneWork = std::move_only_function<void(Turn)>;

struct LaneOptions {
  std::string name;  // of the threads and in the metrics
  std::size_t threads = 1;
  std::size_t max_queued = 0;      // work of all callers
  std::size_t max_per_caller = 0;  // work of one caller
};

// Callers take turns, so a caller waits for a few steps of others, however much they have queued. One caller never
// occupies all threads, if there are several. The destructor runs all queued work and joins the threads.
// Threads: any.
class Lane final : public Executor {
 public:
  Lane(LaneOptions options, MetricRegistry& metrics);
  ~Lane() override;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // The server's own work, which must not be lost: never refused. It takes turns with the callers' work.
  void post(Work work) override EXCLUDES(mutex_);
  // Work of a request. `caller` is not empty.
  void offer(std::string_view caller, LaneWork work) EXCLUDES(mutex_);
  // The next step of work that is running for that caller. It comes before the caller's other work and after a turn of
  // each other caller, and is never refused.
  void go_on(std::string_view caller, LaneWork work) EXCLUDES(mutex_);

  // Counts work that its client gave up before it ended.
  void count_abandoned() { abandoned_.add(); }

 private:
  struct Item {
    LaneWork work;
    Turn turn = Turn::waited;
  };
  struct Queue {
    std::deque<Item> items;
    std::size_t running = 0;
    bool in_turn = false;  // listed in turns_
  };

  // A piece of work that is running, and its caller, which is a key of queues_.
  struct Running {
    const std::string* caller = nullptr;  // nullptr: the lane has ended
    Item item;
  };

  void add(std::string_view caller, Item item, bool first) REQUIRES(mutex_);
  // The number of threads that one caller's work may occupy.
  std::size_t share_of(std::string_view caller) const {
    return caller.empty() || options_.threads == 1 ? options_.threads : options_.threads - 1;
  }
  // The next caller with work that may run now; nullptr if there is none.
  const std::string* next_caller() REQUIRES(mutex_);
  Running take() EXCLUDES(mutex_);  // waits for work
  void ended(const std::string& caller) EXCLUDES(mutex_);
  void run() EXCLUDES(mutex_);

  const LaneOptions options_;
  Gauge& waiting_;
  Counter& refused_;
  Counter& abandoned_;
  Mutex mutex_;
  CondVar ready_;
  std::unordered_map<std::string, Queue> queues_ GUARDED_BY(mutex_);  // by caller, while it has work; "": the server
  std::deque<const std::string*> turns_ GUARDED_BY(mutex_);           // callers with queued work; keys of queues_
  std::size_t queued_ GUARDED_BY(mutex_) = 0;
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace shepherd
