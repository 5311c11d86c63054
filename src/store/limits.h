// The bounds of store, with their reasons. Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace shepherd {

// --- feeds and hub ---
inline constexpr std::size_t kMaxPageEvents = 5'000;
inline constexpr std::size_t kMaxPageBytes = 8 * kMiB;  // a page ends before it grows beyond this

// --- writing ---
inline constexpr std::size_t kMaxStoredBatchEvents = 1'024;  // events in one stored row
inline constexpr std::size_t kMaxStoredBatchBytes = 256 * kKiB;
// Changes that are no events (tasks created, records changed, …), for followers that were away. One that is farther
// behind reads all state again.
inline constexpr std::uint64_t kKeptChanges = 100'000;
inline constexpr std::uint64_t kChangeTrim = 1'000;        // removes old changes this many at a time
inline constexpr std::uint64_t kCheckpointEvents = 4'096;  // between stored states; a reader folds about as many
// What one transaction removes of a deleted task's leftovers, so that other writes come in between: a few milliseconds.
inline constexpr std::size_t kLeftoverRows = 200;
inline constexpr std::size_t kLeftoverBytes = 4 * kMiB;
inline constexpr std::size_t kMaxLooseHoles = 4'096;  // missing numbers remembered per fire-and-forget producer

}  // namespace shepherd
