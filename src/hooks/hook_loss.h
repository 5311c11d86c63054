// Hook calls that could not be kept, counted until somebody can be told: one line for each session, itself a hook call
// (kHooksLost) that waits for its delivery like any other and becomes a `log` event there.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// The lines with one more lost call. Beyond kMaxLostSessions the calls of further sessions are counted on the last
// line.
std::string with_lost_call(std::string_view lines, std::string_view call);

}  // namespace shepherd
