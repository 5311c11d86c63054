// The bounds of outbox, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kPostLines = 1'000;              // events in one request of post and import
inline constexpr std::size_t kPostBytes = 1 * kMiB;           // approximate bytes of one request of post and import
inline constexpr std::chrono::milliseconds kOutboxLinger{2};  // the first event of a batch waits this long for more
inline constexpr std::size_t kOutboxQueueBytes = 16 * kMiB;   // events waiting for the disk; more are lost and counted
inline constexpr std::size_t kOutboxDeltas = 256;             // live text waiting; the oldest is dropped first
inline constexpr std::size_t kOutboxDeltaBytes = 512 * kKiB;  // bytes of live text waiting for the server
inline constexpr std::chrono::milliseconds kDeltaTimeout{2'000};  // live text that takes longer is dropped
inline constexpr std::size_t kSpoolBytes = 1024 * kMiB;        // undelivered events on disk; more are lost and counted
inline constexpr std::size_t kSpoolRoomBytes = 128 * kKiB;     // reserved for a task's end, its largest event
inline constexpr std::size_t kSpoolTrimBytes = 64 * kMiB;      // delivered events kept for a server that lost them
inline constexpr std::chrono::milliseconds kSpoolSync{1'000};  // undelivered events are synced within this
inline constexpr std::chrono::milliseconds kPendingDrain{5'000};  // time to deliver one spool that was left behind
inline constexpr std::chrono::milliseconds kSpoolLook{15'000};    // time between two attempts to deliver such spools

}  // namespace shepherd
