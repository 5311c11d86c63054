// The open approvals of a task, and which of them an operator means.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct OpenApproval {
  std::string id;
  std::string kind;  // permission, question, plan
  std::string tool, summary;
  std::uint64_t sequence = 0;  // sequence of the approval's event
};

// Reads them from a task's JSON.
std::vector<OpenApproval> open_approvals(std::string_view task_json);

// The approval with this id, or the only one whose id starts with it; with an empty id the only one there is. Otherwise
// not_found, or invalid_argument with a list of them.
Result<OpenApproval> choose_approval(const std::vector<OpenApproval>& open, std::string_view id);

}  // namespace shepherd
