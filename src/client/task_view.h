// A task as the server shows it: the commonly needed fields, and the whole object.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

struct TaskView {
  std::string id, title, description, agent, model;
  std::string state;    // "running", …
  std::string phase;    // older servers' name for it
  std::string message;  // newest status message, or the agent's current activity
  std::string error, pr_url;
  std::string created_at;  // RFC 3339
  std::uint64_t first_sequence = 0, last_sequence = 0;
  double cost_usd = 0;
  bool unpriced = false;  // the cost of some of its use is not known
  std::string json;       // the whole object

  bool ended() const;
  // A display name: the title, otherwise the description's first line.
  std::string_view label() const;
};

// Tolerant: missing or mistyped members stay empty. Fails if it is not an object with an id.
Result<TaskView> read_task_view(std::string_view source);

}  // namespace shepherd
