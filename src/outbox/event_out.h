// Where the events about a task go on their way to its log: the outbox of a runner, or the journal of a server that
// runs the agent itself.
#pragma once

#include <string>

namespace shepherd {

// Threads: any. No call waits, and none fails: an implementation that loses events reports their number in the log.
class EventOut {
 public:
  EventOut() = default;
  virtual ~EventOut() = default;
  EventOut(const EventOut&) = delete;
  EventOut& operator=(const EventOut&) = delete;

  // Adds an event as JSON, redacted, with its own timestamp and without `sequence`.
  virtual void add(std::string event_json) = 0;
  // Adds the task's end, its last event, for which there is always room. A report of lost events precedes it.
  virtual void add_end(std::string event_json) = 0;
  // Adds live text as JSON, {"block":…,"text":…}. Dropped first.
  virtual void add_delta(std::string delta_json) = 0;
};

}  // namespace shepherd
