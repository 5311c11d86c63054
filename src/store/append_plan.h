// Plans an append before anything changes: which drafts are new, which are repeats, and whether to refuse the request.
// The plan is a pure function of the writer's TaskHead and two lookups of an adapter, so all stores give the same
// answers.
//
//   strict  the next number is new; a lower one is a repeat if its content is equal, otherwise
//           conflict/sequence_reused; a higher one is conflict/sequence_hole with expectedSequence (the log's next
//           number; nothing is appended)
//   loose   an unused number is new; a used one is a repeat if its content is equal, otherwise it is appended without
//           its key
//   none, or a loose draft without number: event_id, if given, deduplicates
//
// Repeats are always accepted. New drafts after an end are gone/task_ended. They are accepted as late if the server
// inferred that end, or if they were received within late_within_ms of it from a producer that is not strict. An append
// under a lease that the task no longer has is conflict/lease_lost. Within one request nothing new may follow a status
// that ends the task. Threads: caller.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/task.h"
#include "store/event_store.h"
#include "store/producer_numbers.h"

namespace shepherd {

// A task's state that a writer keeps between appends.
struct TaskHead {
  TaskState state;
  std::map<std::string, ProducerNumbers> producers;  // strict producers by id; the loose one under ""
};

// The key of the request's producer in TaskHead::producers and in stored batches.
inline const std::string& producer_name(const AppendRequest& request) {
  static const std::string loose;
  return request.producer.kind == ProducerKind::strict ? request.producer.id : loose;
}

class KnownEvents {
 public:
  virtual ~KnownEvents() = default;
  // The body (body_of) of the newest event with this producer's number, including events of the running transaction;
  // nullopt if the event was dropped or its number was forgotten.
  virtual Result<std::optional<std::string>> body_of_number(const std::string& producer, std::uint64_t number) = 0;
  virtual Result<bool> has_event_id(std::string_view event_id) = 0;
};

struct AppendPlan {
  struct Fresh {
    std::uint32_t draft;  // index into the request's drafts
    bool keyed;           // the number is stored with the event
  };
  std::vector<Fresh> fresh;
  bool late = false;  // applies to all fresh drafts
};

// Errors: conflict/sequence_hole, conflict/sequence_reused, gone/task_ended, invalid_argument/{sequence_required,
// sequence_out_of_range, producer_required}, too_large/detail_too_large, and those of the lookups. An error caused by
// one draft names it as `index`.
Result<AppendPlan> plan_append(const TaskHead& head, const AppendRequest& request, KnownEvents& known);

}  // namespace shepherd
