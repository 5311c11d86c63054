// The bounds of client, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

// --- clients ---
inline constexpr std::chrono::milliseconds kClientTimeout{30'000};   // one request of a command-line program
inline constexpr std::chrono::milliseconds kConnectTimeout{10'000};  // a WebSocket handshake
inline constexpr std::chrono::milliseconds kLiveQuiet{30'000};       // a follower that hears nothing for this long asks
inline constexpr std::chrono::milliseconds kLiveAnswer{10'000};   // how long a follower that asked waits for any answer
inline constexpr std::chrono::milliseconds kReconnectFirst{100};  // pause before the first reconnect; doubles
inline constexpr std::chrono::milliseconds kReconnectMost{
    5'000};                              // longest pause between reconnects, so that a restart is noticed soon
inline constexpr int kMaxLiveHoles = 5;  // reconnects that find the same event missing
inline constexpr std::size_t kMaxLiveTasks = 100'000;  // logs whose numbering one follower checks

// --- terminal, hooks and imports ---
inline constexpr std::chrono::milliseconds kHookTimeout{10'000};  // one delivery, in the background

}  // namespace shepherd
