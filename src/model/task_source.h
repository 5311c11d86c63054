// The label that names the source of an external task's events, and its value for an agent's hooks.
// Threads: value.
#pragma once

namespace shepherd {

inline constexpr const char* kSourceLabel = "source";
inline constexpr const char* kHookSource = "claude-hook";

}  // namespace shepherd
