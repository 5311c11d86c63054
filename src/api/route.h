// The table of routes: what the API answers, for whom and on which listener. The router, the gate, the metrics and the
// check against openapi.json all read this one table.
// Threads: value (constant).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace shepherd {

class Call;

inline constexpr unsigned kOnPublic = 1;
inline constexpr unsigned kOnInternal = 2;
inline constexpr unsigned kOnBoth = kOnPublic | kOnInternal;

// What a caller must be to get past the gate. Rights about a task are checked for the route's {id}.
enum class Need : std::uint8_t {
  open,     // no credentials
  anyone,   // any known principal; the handler looks closer
  person,   // known, and not a producer: those are programs, often agents
  metrics,  // view, unless the metrics are open
  view,
  command,
  produce,
  administer,
};

enum class BodyKind : std::uint8_t { none, json, events, form };  // events: JSON or NDJSON

struct Route {
  std::string_view method;
  std::string_view pattern;  // segments in braces are parameters, at most two
  unsigned listeners;
  Need need;
  BodyKind body;
  std::size_t max_body;
  bool stream;  // may become a stream, so a ticket opens it
  void (*handle)(Call call);
};

std::span<const Route> routes();

}  // namespace shepherd
