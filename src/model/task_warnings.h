// Warns about members of a creation request that the server ignores, and suggests the member that was probably meant.
// They are not errors, because clients of other versions send more members.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

// `json` is a request that decode_task_request() accepted. Returns at most kMaxTaskWarnings sentences.
std::vector<std::string> task_warnings(std::string_view json);

}  // namespace shepherd
