// The bounds of json, with their reasons. Threads: value.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace shepherd {

inline constexpr std::size_t kMaxJsonDepth = 64;           // nesting of an event; deeper is refused, not recursed into
inline constexpr std::size_t kParserKeepBytes = 1 * kMiB;  // a thread keeps a JSON parser for bodies up to this size
inline constexpr std::size_t kFirstParserBytes = 64 * kKiB;  // capacity of a parser at first; it grows with a document

}  // namespace shepherd
