// The task that the start message carries.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd::agent {

struct Task {
  std::string json;     // the whole task as received, with any other members
  std::string id;       // empty if the caller gave none
  std::string goal;     // empty if the caller gave none
  std::string context;  // JSON text of the member "context"; empty if there is none
};

// Returns nothing when the text is not one JSON object or a member has the wrong type; `problem` then says why.
std::optional<Task> parse_task(std::string_view json, std::string& problem);

}  // namespace shepherd::agent
