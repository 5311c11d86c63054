// The bounds of outbox, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kPostLines = 1'000;              // events in one request of post and import
inline constexpr std::size_t kPostBytes = 1 * kMiB;           // approximate bytes of one request of post and import
inline constexpr std::chrono::milliseconds kOutboxLinger{2};  // the first event of a batch waits for company
inline constexpr std::size_t kOutboxQueueBytes = 16 * kMiB;   // events waiting for the disk; more are lost and counted
inline constexpr std::size_t kOutboxDeltas = 256;             // live text waiting for the server; the oldest goes first
inline constexpr std::size_t kOutboxDeltaBytes = 512 * kKiB;  // bytes of live text waiting for the server
inline constexpr std::chrono::milliseconds kDeltaTimeout{2'000};  // live text that takes longer is not worth sending
inline constexpr std::size_t kSpoolBytes = 1024 * kMiB;        // undelivered events on disk; more are lost and counted
inline constexpr std::size_t kSpoolRoomBytes = 128 * kKiB;     // kept on the disk for a task's end, its largest event
inline constexpr std::size_t kSpoolTrimBytes = 64 * kMiB;      // delivered events kept, should the server ask for them
inline constexpr std::chrono::milliseconds kSpoolSync{1'000};  // undelivered events reach the disk itself within this
inline constexpr std::chrono::milliseconds kPendingDrain{5'000};  // for one spool that somebody left behind
inline constexpr std::chrono::milliseconds kSpoolLook{15'000};    // between two tries to deliver what was left behind

}  // namespace shepherd
