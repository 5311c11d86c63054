// The bounds of driver/acp, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxAcpOpenCalls = 256;   // tool calls that run at once; an agent may never end them
inline constexpr std::size_t kMaxAcpCallIds = 10'000;  // ended calls whose ids are known, so that one used again is new
inline constexpr std::size_t kMaxAcpOpenRequests = 1'000;       // of the agent's, without an answer; more are refused
inline constexpr std::chrono::milliseconds kAcpInputWait{500};  // a call's input comes in pieces: it is whole when no
                                                                // piece came for so long
inline constexpr std::size_t kMaxAcpTerminals = 100;            // their output is kept for the results of calls
inline constexpr std::size_t kMaxAcpServers = 100;              // MCP servers of one session
inline constexpr std::size_t kMaxAcpChoices = 2'000;  // of one setting: an agent lists every model of every provider
inline constexpr std::size_t kMaxAcpModels = 50;      // one session's usage is kept for each of them

}  // namespace shepherd
