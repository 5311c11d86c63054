// The bounds of harness/model, with their reasons. Threads: value.
#pragma once

#include <cstddef>

namespace shepherd {

inline constexpr std::size_t kMaxModelRequestBytes = 32UL * 1024 * 1024;  // an agent's tools and its whole conversation
inline constexpr std::size_t kMaxModelRequestDepth = 256;                 // schemas of tools are nested deeply

}  // namespace shepherd
