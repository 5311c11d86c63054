// The JSON of an outbox's events: puts them on one line, numbers them, and replaces those that cannot be delivered.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace shepherd {

// Puts the event on one line. nullopt if it does not look like a JSON object or is too large for any request; the
// server checks it exactly.
std::optional<std::string> one_line_event(std::string event);

// `{"sequence":N,` + the rest.
void append_numbered(std::string& out, std::uint64_t number, std::string_view event);

// `log` events that report missing ones. Their text must stay the same when they are posted again, so the time is
// passed in.
std::string refused_event(std::string_view event, const Error& why, std::int64_t wall_ms);
std::string unfit_event(std::string_view event, std::int64_t wall_ms);
std::string lost_events(std::uint64_t count, std::int64_t wall_ms);
// The number of events lost with this one: those that it reports as missing, or itself.
std::uint64_t lost_with(std::string_view event);
std::string damaged_spool_event(std::size_t bytes, std::int64_t wall_ms);
std::string new_producer_event(std::string_view why, std::int64_t wall_ms);

}  // namespace shepherd
