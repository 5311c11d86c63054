// The bounds of client, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

// --- clients ---
inline constexpr std::chrono::milliseconds kClientTimeout{30'000};   // one request of a command-line program
inline constexpr std::chrono::milliseconds kConnectTimeout{10'000};  // a WebSocket handshake
inline constexpr std::chrono::milliseconds kLiveQuiet{30'000};       // silence before a follower sends a message
inline constexpr std::chrono::milliseconds kLiveAnswer{10'000};      // wait for any answer to that message
inline constexpr std::chrono::milliseconds kLiveLook{1'000};      // how often a follower looks how long it was silent
inline constexpr std::chrono::milliseconds kReconnectFirst{100};  // pause before the first reconnect; doubles
inline constexpr std::chrono::milliseconds kReconnectMost{
    5'000};                              // longest pause between reconnects, so that followers notice a restart soon
inline constexpr int kMaxLiveHoles = 5;  // reconnects that may find the same event missing
inline constexpr std::size_t kMaxLogsAsked = 200;  // in one message: far below what a server reads of one (64 KiB)
inline constexpr std::chrono::milliseconds kLogRetry{1'000};    // before a log that was refused is asked for again
inline constexpr std::size_t kMaxLiveTasks = 100'000;           // logs whose numbering one follower checks
inline constexpr std::size_t kMaxStreamEventBytes = 16 * kMiB;  // one event of a chat: a message with its tool calls

// --- terminal, hooks and imports ---
inline constexpr std::chrono::milliseconds kHookTimeout{10'000};  // one delivery, in the background
inline constexpr std::size_t kMaxRefusalBytes = 64 * kKiB;        // body of a refused chat request; the rest is ignored

}  // namespace shepherd
