// Selects the events that a consumer wants: by type, and on the log of all tasks also by task.
// Threads: value.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/event_type.h"
#include "store/event_batch.h"

namespace shepherd {

// Empty means all types.
struct TypeFilter {
  TypeMask known = 0;
  std::vector<std::string> unknown;  // names that this version does not know
  bool everything() const { return known == 0 && unknown.empty(); }
};

struct Selection {
  TypeFilter types;
  std::optional<std::set<std::string>> tasks;  // nullopt: every task

  bool everything() const { return types.everything() && !tasks; }
  bool takes_task(const std::string& task) const { return !tasks || tasks->contains(task); }
  // Whether event i of the batch is wanted, regardless of its task.
  bool takes_event(const EventBatch& batch, std::size_t i) const;
  // Whether any event of the batch is wanted.
  bool takes_any(const EventBatch& batch) const;
};

// The value of `type` in a finished event, still JSON-escaped.
std::string_view raw_type_name(std::string_view event_json);

// Whether event i ends its task: a `status` event with a terminal state.
bool ends_task(const EventBatch& batch, std::size_t i);

}  // namespace shepherd
