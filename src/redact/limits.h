// The bounds of redact, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMinSecretBytes = 6;  // exact secret values below this would be found everywhere
inline constexpr int kMaxRedactRounds = 4;         // replacing can lay bare a neighbour; no text needed more rounds

// --- live text ---
inline constexpr std::size_t kDeltaTailBytes = 64;           // of live text wait for what follows; fewer tell no secret
inline constexpr std::size_t kMaxHeldDeltaBytes = 8 * kKiB;  // in one secret: the largest keys have 6; escaped, it is
                                                             // still below kMaxDeltaBytes
inline constexpr std::size_t kPlainWordBytes = 20;  // a longer word waits; few words of prose are longer, all keys are
inline constexpr std::size_t kPlainMixedBytes = 8;  // a longer word with digits waits
inline constexpr std::size_t kPlainDigits = 6;      // a longer number waits; a card's first six tell only the bank

}  // namespace shepherd
