// A task as the server shows it: the fields that programs commonly need, and the object itself as it was sent.
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
  std::string phase;    // older servers' word for it
  std::string message;  // newest status message, or what the agent does now
  std::string error, pr_url;
  std::string created_at;  // RFC 3339
  std::uint64_t first_sequence = 0, last_sequence = 0;
  double cost_usd = 0;
  std::string json;  // the whole object

  bool ended() const;
  // Something to call it by: the title, else the description's first line.
  std::string_view label() const;
};

// Tolerant: members that are missing or of another type are left empty. Fails when it is not an object with an id.
Result<TaskView> read_task_view(std::string_view source);

}  // namespace shepherd
