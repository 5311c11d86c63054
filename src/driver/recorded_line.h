// Recordings of agents: lines {"dir":"out"|"in"|…,"t_ms":N,"line":"…"} around what was said, in both directions.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

struct RecordedLine {
  enum class Side : std::uint8_t { agent, client, note };  // note: neither said it
  Side side = Side::note;
  std::int64_t at_ms = 0;  // since the recording began
  // What the agent printed or what was written to it. Of an HTTP service, an event or an answer as http_envelope.h has
  // them; a request as its method and path.
  std::string text;

  bool from_agent() const { return side == Side::agent; }
};

// nullopt: the line is of no recording, but the agent's own.
std::optional<RecordedLine> recorded_line(std::string_view line);

}  // namespace shepherd
