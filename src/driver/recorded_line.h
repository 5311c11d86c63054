// Recordings of agents: lines {"dir":"out"|"in"|…,"t_ms":N,"line":"…"} around what was said, in both directions.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

// The record that the agent gave with this line: what it printed or, of an HTTP service, an event or an answer as
// http_envelope.h has them. Empty for what was said to it, and for notes. nullopt: the line is of no recording, but the
// agent's own.
std::optional<std::string> recorded_line(std::string_view line);

}  // namespace shepherd
