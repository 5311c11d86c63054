// Counts hook calls that could not be stored. There is one line per session, which is itself a hook call (kHooksLost):
// it waits for delivery like any other and becomes a `log` event.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// Returns the lines with one more lost call. Beyond kMaxLostSessions, the last line also counts calls of further
// sessions.
std::string with_lost_call(std::string_view lines, std::string_view call);

}  // namespace shepherd
