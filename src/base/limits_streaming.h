// Threads: value.
#pragma once

#include "base/limits.h"

namespace shepherd {

// --- streaming agents (gRPC) ---
inline constexpr std::chrono::milliseconds kChunkJoinWait{1'000};  // chunks of text this close together are one event
inline constexpr std::size_t kChunkJoinBytes = 8 * kKiB;           // and at most this much of them
inline constexpr std::size_t kChunkJoinMessages = 256;  // and this many: each leaves its record in the detail
inline constexpr std::size_t kSequenceNotes = 20;    // an agent that cannot count is told about so often, then counted
inline constexpr std::size_t kRecentMessages = 256;  // whose repetition is recognised
inline constexpr std::chrono::milliseconds kAgentConnectWait{5'000};  // for an agent that is just starting
inline constexpr std::chrono::milliseconds kAgentConnectLook{100};    // how soon a stop is seen while connecting
// Servers take pings more often than every 5 minutes for an attack and end the connection.
inline constexpr std::chrono::milliseconds kAgentKeepalive{310'000};
inline constexpr std::chrono::milliseconds kAgentKeepaliveTimeout{20'000};  // for the answer to one
inline constexpr std::size_t kMaxCredentialBytes = 1 * kMiB;                // a token or certificate file of an agent
inline constexpr std::size_t kMaxAgentMetadata = 32;                        // entries sent with a call
inline constexpr std::size_t kMaxConfiguredAgents = 60;  // below kMaxClaimAgents: runners claim built-in ones as well

}  // namespace shepherd
