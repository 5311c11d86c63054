// The bounds of harness, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

// --- checking agents: shepherd agent test ---
inline constexpr std::chrono::milliseconds kAgentAnswer{10'000};     // for an agent to react, unless --timeout says
inline constexpr std::chrono::milliseconds kAgentRun{120'000};       // for a run of the harness's small task to its end
inline constexpr std::chrono::milliseconds kAgentQuiet{500};         // an interrupted agent is watched this long
inline constexpr std::chrono::milliseconds kAgentTooQuick{250};      // an agent done by then could not have reacted
inline constexpr std::chrono::milliseconds kAgentStartWait{30'000};  // a command to listen; compilers may be part of it
inline constexpr std::chrono::milliseconds kAgentEndsWait{10'000};   // after SIGTERM, then it is killed
inline constexpr std::chrono::milliseconds kAgentLook{20};           // between two looks at a process or an address
inline constexpr std::chrono::milliseconds kAgentClockSlack{300'000};  // between the agent's clock and this one
inline constexpr std::size_t kFloodMessages = 50;                      // of output within a second
inline constexpr std::size_t kFloodBytes = 100;                        // when they are smaller than this on average
inline constexpr std::size_t kMaxTranscriptMessages = 100'000;         // of one stream; more are read and not kept

}  // namespace shepherd
