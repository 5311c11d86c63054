// The bounds of driver/grpc, with their reasons. Threads: value.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::chrono::milliseconds kChunkJoinWait{1'000};  // chunks of text this close together are one event
inline constexpr std::size_t kChunkJoinBytes = 8 * kKiB;           // bytes of chunks joined into one event
inline constexpr std::size_t kChunkJoinMessages =
    256;                                           // chunks joined into one event: each leaves its record in the detail
inline constexpr std::size_t kSequenceNotes = 20;  // an agent that cannot count is told about so often, then counted
inline constexpr std::size_t kRecentMessages = 256;  // newest messages of which a repetition is recognised

}  // namespace shepherd
