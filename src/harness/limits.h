// The bounds of harness, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

// --- checking agents: shepherd agent test ---
inline constexpr std::chrono::milliseconds kAgentAnswer{10'000};     // for an agent to react; --timeout changes it
inline constexpr std::chrono::milliseconds kAgentRun{120'000};       // for a complete run of the harness's small task
inline constexpr std::chrono::milliseconds kAgentQuiet{500};         // time to watch an interrupted agent
inline constexpr std::chrono::milliseconds kAgentTooQuick{250};      // an agent that ends sooner could not have reacted
inline constexpr std::chrono::milliseconds kAgentStartWait{30'000};  // for a command to listen; may include compiling
inline constexpr std::chrono::milliseconds kAgentEndsWait{10'000};   // after SIGTERM, before it is killed
inline constexpr std::chrono::milliseconds kAgentClockSlack{300'000};  // between the agent's clock and this one
inline constexpr std::size_t kFloodMessages = 50;                      // output messages within a second
inline constexpr std::size_t kFloodBytes = 100;                        // if they are smaller than this on average
inline constexpr std::size_t kMaxTranscriptMessages = 100'000;         // per stream; more are read but not kept
inline constexpr std::size_t kMaxTranscriptBytes =
    kMaxTranscriptMessages * 1024;  // of the messages that are kept whole
inline constexpr std::size_t kMaxUnreadMessages =
    kFloodMessages * 10;  // received and not yet processed; then the agent has to wait

}  // namespace shepherd
