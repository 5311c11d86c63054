// The trace that a stream belongs to. Ids are lower-case hexadecimal digits, as in OpenTelemetry.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd::agent {

struct TraceContext {
  std::string trace_id;  // 32 digits, not all zero
  std::string span_id;   // 16 digits, not all zero

  // Starts a new trace.
  static TraceContext fresh();
  // Continues the caller's trace with a new span, from a W3C `traceparent`. Returns nothing if that is malformed.
  static std::optional<TraceContext> continued(std::string_view traceparent);
};

}  // namespace shepherd::agent
