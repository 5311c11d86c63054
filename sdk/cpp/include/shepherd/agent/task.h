// What an agent is asked to do, as the start message carries it.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd::agent {

struct Task {
  std::string json;     // the whole task as it came; whatever else the caller put into it is there
  std::string id;       // empty when the caller gave none
  std::string goal;     // the same
  std::string context;  // JSON text of the member "context"; empty when there is none
};

// Nothing when the text is not one JSON object or a member has the wrong kind; `problem` then says what is wrong.
std::optional<Task> parse_task(std::string_view json, std::string& problem);

}  // namespace shepherd::agent
