// The bounds of driver/registry, with their reasons. Threads: value.
#pragma once

#include <cstddef>

namespace shepherd {

// Lines of a recording that are held until it is known how its run was started: an agent's settings and its first
// prompt come within a few dozen lines.
inline constexpr std::size_t kMaxLinesBeforeStart = 500;

// --- telemetry: both become part of a task's id ---
inline constexpr std::size_t kMaxExportedSessionBytes = 64;  // ids of all agents are shorter
inline constexpr std::size_t kMaxExportedAgentBytes = 32;    // of a service's name

}  // namespace shepherd
