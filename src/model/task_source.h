// The label that says what feeds an external task, and its value when that is an agent's hooks.
// Threads: value.
#pragma once

namespace shepherd {

inline constexpr const char* kSourceLabel = "source";
inline constexpr const char* kHookSource = "claude-hook";

}  // namespace shepherd
