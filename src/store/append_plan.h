// What an append will do, decided before anything is changed: which drafts are new, which are repeats, and whether the
// request must be refused. Pure over what the writer knows of the task (TaskHead) and two lookups of an adapter, so all
// stores answer alike.
//
//   strict  the next number is new; a lower one is a repeat if its content is equal, else conflict/sequence_reused; a
//           higher one is conflict/sequence_hole with expectedSequence (what the log wants next; nothing was taken)
//   loose   an unused number is new; a used one is a repeat if its content is equal, else it is appended without key
//   none, or a loose draft without number: event_id, when given, deduplicates
//
// Repeats are always fine. New drafts after an end are gone/task_ended, unless the server inferred that end or they
// were received within late_within_ms of it and no strict producer sends them: then they are late. An append under a
// lease that the task no longer has is conflict/lease_lost. Within one request nothing new may follow a status that
// ends the task. Threads: caller.
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

// What a writer keeps of a task between appends.
struct TaskHead {
  TaskState state;
  std::map<std::string, ProducerNumbers> producers;  // strict ones by id; the loose one under ""
};

// The name under which TaskHead::producers and stored batches know the request's producer.
inline const std::string& producer_name(const AppendRequest& request) {
  static const std::string loose;
  return request.producer.kind == ProducerKind::strict ? request.producer.id : loose;
}

class KnownEvents {
 public:
  virtual ~KnownEvents() = default;
  // The body (body_of) of the newest event with this producer's number, also one of the running transaction;
  // nullopt when it was dropped or its number was forgotten.
  virtual Result<std::optional<std::string>> body_of_number(const std::string& producer, std::uint64_t number) = 0;
  virtual Result<bool> has_event_id(std::string_view event_id) = 0;
};

struct AppendPlan {
  struct Fresh {
    std::uint32_t draft;  // index into the request's drafts
    bool keyed;           // its number is stored with it
  };
  std::vector<Fresh> fresh;
  bool late = false;  // all of them
};

// Errors: conflict/sequence_hole, conflict/sequence_reused, gone/task_ended, invalid_argument/{sequence_required,
// sequence_out_of_range, producer_required}, too_large/detail_too_large, and those of the lookups. Each names the draft
// as `index` where one is to blame.
Result<AppendPlan> plan_append(const TaskHead& head, const AppendRequest& request, KnownEvents& known);

}  // namespace shepherd
