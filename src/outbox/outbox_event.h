// The JSON of an outbox's events: made fit for one line, numbered, and what stands in for one that cannot be delivered.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace shepherd {

// On one line. nullopt when it is not a JSON object by its look, or is too large for any request; the server looks
// closer.
std::optional<std::string> one_line_event(std::string event);

// `{"sequence":N,` + the rest.
void append_numbered(std::string& out, std::uint64_t number, std::string_view event);

// `log` events that say what is missing. Their text must stay the same when they are posted again, so the time is
// given.
std::string refused_event(std::string_view event, const Error& why, std::int64_t wall_ms);
std::string unfit_event(std::string_view event, std::int64_t wall_ms);
std::string lost_events(std::uint64_t count, std::int64_t wall_ms);
// How many events are lost with this one: those that it says are missing, or itself.
std::uint64_t lost_with(std::string_view event);
std::string damaged_spool_event(std::size_t bytes, std::int64_t wall_ms);
std::string new_producer_event(std::string_view why, std::int64_t wall_ms);

}  // namespace shepherd
