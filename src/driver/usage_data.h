// The `data` of a usage event, the same for every agent.
// Threads: value.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/task.h"

namespace shepherd {

struct UsageData {
  Usage total;                          // calls of the model's API: 0 when they are not known
  std::map<std::string, Usage> models;  // by name; may be empty
  bool cost_known = false;              // if false, no cost is reported: none is not the same as 0
};

// `more_members`: JSON members that follow, or nothing.
// The `models` member alone.
std::string encode_usage_models(const UsageData& usage);
std::string encode_usage_data(const UsageData& usage, std::string_view more_members = {});

}  // namespace shepherd
