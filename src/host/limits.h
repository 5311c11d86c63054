// The bounds of host, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

namespace shepherd {

inline constexpr std::chrono::milliseconds kDrainDeadline{5'000};  // graceful shutdown waits this long for responses
inline constexpr std::chrono::milliseconds kServerTick{250};       // reordered events are late by at most this
inline constexpr std::chrono::milliseconds kRetentionInterval{60'000};
inline constexpr std::size_t kMaxIoThreads = 4;                    // by default; ingest uses more cores better
inline constexpr std::chrono::milliseconds kHostLook{500};         // how soon a run notices that its host is gone
inline constexpr std::chrono::milliseconds kHostWait{20'000};      // for another process that starts to host
inline constexpr std::chrono::milliseconds kHandOverWait{30'000};  // for a run to hand its directory to a `serve`
inline constexpr std::chrono::milliseconds kHandOverLook{50};
inline constexpr std::size_t kMaxHostNews = 100;  // unread messages about the server

inline constexpr std::chrono::milliseconds kModelProbeInterval{10'000};  // while a model does not answer
inline constexpr std::size_t kToolThreads = 4;            // for files and the start of commands of chat sessions
inline constexpr std::size_t kSearchedAtOnce = 100;       // matches of one read of the search index
inline constexpr std::size_t kMaxSearchedEvents = 2'000;  // matches that a tool's search looks at; most are messages
inline constexpr std::chrono::milliseconds kMcpStopWait{8'000};  // for MCP servers: input closed, SIGTERM, SIGKILL

}  // namespace shepherd
