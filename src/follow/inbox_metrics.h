// Prometheus text about active tasks and items that wait for a person, from the inbox.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "follow/inbox.h"

namespace shepherd {

void append_inbox_metrics(std::string& out, const Inbox& inbox, std::int64_t now_ms);

}  // namespace shepherd
