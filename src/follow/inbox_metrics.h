// Prometheus text of what is under way and what waits for a person, from the inbox.
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "follow/inbox.h"

namespace shepherd {

void append_inbox_metrics(std::string& out, const Inbox& inbox, std::int64_t now_ms);

}  // namespace shepherd
