// The bounds of driver/gemini, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kGeminiTextBytes = 4 * kMiB;  // of one message that comes in pieces; what is longer is
                                                           // more than one event

}  // namespace shepherd
