// The bounds of terminal, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxInputLineBytes = 16 * kMiB;  // one line of standard input: an event with its detail

}  // namespace shepherd
