// The label that names the source of an external task's events, and its values for an agent's hooks and
// its telemetry.
// Threads: value.
#pragma once

namespace shepherd {

inline constexpr const char* kSourceLabel = "source";
inline constexpr const char* kHookSource = "claude-hook";
inline constexpr const char* kTelemetrySource = "telemetry";

}  // namespace shepherd
