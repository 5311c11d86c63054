// The trace that a stream belongs to: ids as OpenTelemetry writes them, in small hexadecimal digits.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd::agent {

struct TraceContext {
  std::string trace_id;  // 32 digits, not all zero
  std::string span_id;   // 16 digits, not all zero

  // A trace of its own.
  static TraceContext fresh();
  // The caller's trace with a span of its own, from a W3C `traceparent`; nothing when that is malformed.
  static std::optional<TraceContext> continued(std::string_view traceparent);
};

}  // namespace shepherd::agent
