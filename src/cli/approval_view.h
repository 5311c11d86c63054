// Shows what an agent asks approval for, as a person reads it before deciding: every member of the input, in full, with
// every character visible. `inbox`, `run`, `watch`, `top`, `tasks show` and `approve` use it.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/api_client.h"

namespace shepherd {

// The input as lines of at most `columns` (0: no limit): "command: git push", or the name alone with the value below
// it, each line after "| ", so that no value can look like another member. Continuation lines are indented. Questions
// are shown with their choices. Empty if the input has no members.
std::vector<std::string> input_lines(std::string_view input_json, std::size_t columns);

// The notice to show if parts of the input are hidden secrets; empty if there are none. Recognises
// `[redacted:kind:length]` and the older `[redacted:kind]` and `[redacted]`.
std::string redaction_notice(std::string_view input_json);

struct AskedInput {
  std::string json = "{}";
  bool whole = true;  // false: only the beginning of long values could be read
};
// The input of an approval event. If the event has only a part of it, reads the whole from the event's detail.
AskedInput asked_input(ApiClient& client, std::string_view task, std::string_view event_json);
// The same by the event's number. not_found if retention has removed the event.
Result<AskedInput> asked_input(ApiClient& client, std::string_view task, std::uint64_t sequence);

// The lines of the input, then notices about it.
std::vector<std::string> asked_lines(const AskedInput& input, std::size_t columns);

}  // namespace shepherd
