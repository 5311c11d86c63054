// Identifiers: time-sortable unique ids, and the rule for ids that callers supply. Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"

namespace shepherd {

// 26 characters of Crockford base 32, lower case: 48 bits of milliseconds, 80 random bits. Sorts by time.
std::string make_sortable_id(std::int64_t wall_ms, Random& random);

// "task-" + sortable id.
std::string make_task_id(std::int64_t wall_ms, Random& random);

// A task id supplied by a caller: [A-Za-z0-9._-]{1,128}, and not "." or "..".
bool is_task_id(std::string_view id);

}  // namespace shepherd
