// What a creation request says that nobody reads: members that it does not have, with the one that was probably meant.
// They are no errors, because clients of other versions send more.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

// `json` is a request that decode_task_request() has taken. At most kMaxTaskWarnings sentences.
std::vector<std::string> task_warnings(std::string_view json);

}  // namespace shepherd
