// What an agent asks leave for, as a person reads it before deciding: every member of the input, in full, every
// character to be seen. The same in `inbox`, `run`, `watch`, `top`, `tasks show` and `approve`.
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

// The input as lines of at most `columns` (0: as long as they are): "command: git push", or the name alone and the
// value below it, each line behind "| ", so that no value can look like another member. What follows a break is
// indented. Questions are shown with their choices. Empty: the input has no members.
std::vector<std::string> input_lines(std::string_view input_json, std::size_t columns);

// What to say beside the question when parts of the input are secrets that nobody is shown; empty: there are none.
// Knows `[redacted:kind:length]` and the older `[redacted:kind]` and `[redacted]`.
std::string redaction_notice(std::string_view input_json);

struct AskedInput {
  std::string json = "{}";
  bool whole = true;  // false: of long values only the beginning could be had
};
// The input of an approval event: its own, or where that is cut the whole one, of the event's detail.
AskedInput asked_input(ApiClient& client, std::string_view task, std::string_view event_json);
// The same by the event's number. not_found when retention has removed it.
Result<AskedInput> asked_input(ApiClient& client, std::string_view task, std::uint64_t sequence);

// The lines of the input, then what is to be said about it.
std::vector<std::string> asked_lines(const AskedInput& input, std::size_t columns);

}  // namespace shepherd
