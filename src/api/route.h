// The table of routes, with the rights and the listener of each. The router, the gate, the metrics and the check
// against openapi.json all read this table.
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

// What the gate requires of a caller. Rights on a task are checked for the route's {id}.
enum class Need : std::uint8_t {
  open,     // no credentials
  anyone,   // any known caller; the handler checks further
  person,   // any known caller but a producer, because producers are programs, often agents
  metrics,  // view, unless the metrics are open
  view,
  command,
  produce,
  administer,
};

enum class BodyKind : std::uint8_t {
  none,
  json,
  events,
  form,
  prompt,
  otlp
};  // events: JSON or NDJSON; prompt: JSON or text; otlp: JSON or protobuf, may be gzip

struct Route {
  std::string_view method;
  std::string_view pattern;  // segments in braces are parameters, at most two
  unsigned listeners;
  Need need;
  BodyKind body;
  std::size_t max_body;
  bool stream;  // may become a stream, so it accepts a ticket
  void (*handle)(Call call);
};

std::span<const Route> routes();

// Whether a route is one of chat sessions, whose errors have a form of their own.
bool is_chat(const Route& route);

// Whether a path is one of OpenAI's, whose errors have theirs.
bool is_openai(std::string_view path);

// Whether it is one of OTLP's, whose errors have theirs.
bool is_otlp(std::string_view path);

}  // namespace shepherd
