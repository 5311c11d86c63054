// Puts the events of a fire-and-forget producer back in order. Such producers post from many connections at once, so
// number 3 may arrive before number 2, and the task's end before both. An early request waits for its predecessors, at
// most for kReorderWait, and at most kReorderEvents or kReorderBytes of them per task. Then it is appended after a
// `log` event with the missing numbers, once the store has said that it has none of them: another process may have
// taken them. Late events are appended when they arrive. The end of a task waits as long for missing events, and until
// none has arrived for kEndQuiet.
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

// Calls `submit` under the lock that orders releases, so that every task's numbers ascend. So neither `submit` nor a
// `done` that it calls before it returns may call this object; a `done` that comes later may.
// Threads: any.
class Reorder {
 public:
  using Done = std::move_only_function<void(Result<Appended>)>;
  // submit appends finally, in call order. An append of no drafts returns the producer's newest number.
  using Submit = std::function<void(AppendRequest, Done)>;
  Reorder(const Clock& clock, Submit submit) : clock_(clock), submit_(std::move(submit)) {}

  void append(AppendRequest request, Done done) EXCLUDES(mutex_);
  // Ends a task after the events sent before it, as far as that can be determined. Ends of one task keep their order.
  void end(AppendRequest request, Done done) EXCLUDES(mutex_);
  // Releases requests that have waited long enough, and forgets quiet tasks.
  void tick() EXCLUDES(mutex_);
  // Releases all requests of a task at once, so without asking the store again.
  void release(const std::string& task) EXCLUDES(mutex_);
  // Releases everything (shutdown).
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
    bool started = false;    // `next` is known
    bool asking = false;     // the store is asked for `next`, the first time or again
    std::uint64_t next = 0;  // the number that is due
    std::size_t events = 0;  // waiting events
    std::size_t bytes = 0;   // waiting bytes
    std::int64_t used_ms = 0;
    std::multimap<std::uint64_t, Waiting> waiting;  // by lowest number
    std::deque<Waiting> ends;
  };
  struct Release {
    AppendRequest request;
    Done done;
  };

  // Asks the store which number is due. Without the order lock, because the answer may come at once and takes it.
  void ask(const std::string& task, std::int64_t received_ms) EXCLUDES(mutex_, order_mutex_);
  void on_answer(const std::string& task, const Result<Appended>& high) EXCLUDES(mutex_, order_mutex_);
  enum class Which : std::uint8_t {
    in_order,  // requests that are in order
    due,       // those, and all that have waited long enough, after a notice of the missing numbers
    rest,      // everything, with such notices
    unlooked,  // everything, if it is unknown which number was due
  };
  // Moves requests out of the queue, lowest numbers first. Returns whether the first that is left has waited long
  // enough.
  bool release_some(Queue& queue, Which which, std::vector<Release>& out) REQUIRES(mutex_);
  // Everything that may go, ends as well. Returns true if the store must be asked first.
  bool release_ready(Queue& queue, bool asked, std::vector<Release>& out) REQUIRES(mutex_);
  void release_front(Queue& queue, std::vector<Release>& out) REQUIRES(mutex_);
  void release_ends(Queue& queue, std::vector<Release>& out) REQUIRES(mutex_);
  bool is_full(const Queue& queue) const REQUIRES(mutex_);
  void submit_all(std::vector<Release> releases);

  const Clock& clock_;
  Submit submit_;
  // Held while submitting, so that two threads cannot swap their releases. Ordered before mutex_.
  Mutex order_mutex_;
  Mutex mutex_;
  std::map<std::string, Queue> queues_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;  // of all queues
};

}  // namespace shepherd
