// The bounds of driver_registry, with their reasons. Threads: value.
#pragma once

#include <cstddef>

namespace shepherd {

// --- telemetry: both become part of a task's id ---
inline constexpr std::size_t kMaxExportedSessionBytes = 64;  // ids of all agents are shorter
inline constexpr std::size_t kMaxExportedAgentBytes = 32;    // of a service's name

}  // namespace shepherd
