// Puts the events of a fire-and-forget producer back in order. Such producers post from many connections at once, so
// number 3 may arrive before number 2, and the task's end before both. An early request waits for its predecessors, at
// most kReorderWait, and at most kReorderEvents or kReorderBytes of them a task; then it goes on after a `log` event
// that names the numbers that have not come. Late ones are appended whenever they come. The end of a task waits as long
// for what is missing, and until nothing has come for kEndQuiet.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/event_store.h"

namespace shepherd {

// Threads: any. Calls `submit` without its lock held, but in an order that keeps every task's numbers ascending.
class Reorder {
 public:
  using Done = std::move_only_function<void(Result<Appended>)>;
  // submit: appends for good, in call order. An append of no drafts answers with the producer's newest number.
  using Submit = std::function<void(AppendRequest, Done)>;
  Reorder(const Clock& clock, Submit submit) : clock_(clock), submit_(std::move(submit)) {}

  void append(AppendRequest request, Done done) EXCLUDES(mutex_);
  // Ends a task: after what was sent before it, as far as that can be known. Ends of one task keep their order.
  void end(AppendRequest request, Done done) EXCLUDES(mutex_);
  // Lets go of what has waited long enough, and forgets quiet tasks.
  void tick() EXCLUDES(mutex_);
  // Lets go of what a task still has here, at once.
  void release(const std::string& task) EXCLUDES(mutex_);
  // Lets go of everything (shutdown).
  void flush() EXCLUDES(mutex_);

 private:
  struct Waiting {
    AppendRequest request;
    Done done;
    std::uint64_t last = 0;
    std::size_t bytes = 0;
    std::int64_t since_ms = 0;
  };
  struct Queue {
    bool started = false;    // next is known
    std::uint64_t next = 0;  // the number that is due
    std::size_t events = 0;  // waiting
    std::size_t bytes = 0;   // the same
    std::int64_t used_ms = 0;
    std::multimap<std::uint64_t, Waiting> waiting;  // by lowest number
    std::deque<Waiting> ends;
  };
  struct Release {
    AppendRequest request;
    Done done;
  };

  void on_started(const std::string& task, const Result<Appended>& high) EXCLUDES(mutex_, order_mutex_);
  enum class Which : std::uint8_t {
    due,       // what comes in order or has waited long enough; behind a notice when numbers are missing
    rest,      // everything, with such notices
    unlooked,  // everything, where the number that was due is unknown
  };
  // Moves it out of the queue, oldest numbers first.
  void release_due(Queue& queue, Which which, std::vector<Release>& out) REQUIRES(mutex_);
  void release_front(Queue& queue, std::vector<Release>& out) REQUIRES(mutex_);
  void release_ends(Queue& queue, std::vector<Release>& out) REQUIRES(mutex_);
  bool is_full(const Queue& queue) const REQUIRES(mutex_);
  void submit_all(std::vector<Release> releases);

  const Clock& clock_;
  Submit submit_;
  // Held while submitting, so that two threads cannot swap what they release. Ordered before mutex_.
  Mutex order_mutex_;
  Mutex mutex_;
  std::map<std::string, Queue> queues_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;  // of all queues
};

}  // namespace shepherd
