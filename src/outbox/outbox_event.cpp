#include "outbox/outbox_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/scan.h"
#include "json/write.h"
#include "model/limits.h"
#include "net/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// Room for `,"sequence":` and its digits, which are added to an event.
constexpr std::size_t kNumberBytes = 40;

template <class Fill>
std::string log_event(std::string_view summary, std::int64_t wall_ms, std::string_view code, Fill fill) {
  std::string out = object_text([&](JsonObject& event) {
    event.text("type", "log");
    event.time("timestamp", wall_ms);
    event.text("summary", summary);
    write_object(event.member("data"), [&](JsonObject& data) {
      data.text("source", "runner");
      data.text("code", code);
      fill(data);
    });
  });
  return out;
}

std::string log_event(std::string_view summary, std::int64_t wall_ms, std::string_view code) {
  return log_event(summary, wall_ms, code, [](JsonObject&) {});
}

}  // namespace

std::optional<std::string> one_line_event(std::string event) {
  std::size_t begin = event.find_first_not_of(kBlank);
  if (begin == std::string::npos || event.size() > kMaxBodyBytes - kNumberBytes) return std::nullopt;
  event.erase(event.find_last_not_of(kBlank) + 1);
  event.erase(0, begin);
  if (event.front() != '{' || event.back() != '}') return std::nullopt;
  // Between tokens a line break is white space, and JSON strings cannot contain one.
  std::replace(event.begin(), event.end(), '\n', ' ');
  std::replace(event.begin(), event.end(), '\r', ' ');
  return event;
}

void append_numbered(std::string& out, std::uint64_t number, std::string_view event) {
  std::string_view rest = event.substr(1);
  bool empty = rest.find_first_not_of(kBlank) == rest.find('}');
  out += R"({"sequence":)";
  append_number(out, number);
  if (!empty) out += ',';
  out += rest;
}

std::string refused_event(std::string_view event, const Error& why, std::int64_t wall_ms) {
  return log_event("The server refused an event: " + why.message, wall_ms, "event_refused", [&](JsonObject& data) {
    data.text("reason", why.reason);
    data.number("bytes", static_cast<std::uint64_t>(event.size()));
    data.text("excerpt", event.substr(0, kCondensedStringCharacters));
  });
}

std::string unfit_event(std::string_view event, std::int64_t wall_ms) {
  return log_event("An event was not a JSON object of a size that can be posted", wall_ms, "event_unfit",
                   [&](JsonObject& data) {
                     data.number("bytes", static_cast<std::uint64_t>(event.size()));
                     data.text("excerpt", event.substr(0, kCondensedStringCharacters));
                   });
}

std::string lost_events(std::uint64_t count, std::int64_t wall_ms) {
  return log_event(fmt::format("{} events are missing here: the runner had no room left to keep them", count), wall_ms,
                   "events_lost", [&](JsonObject& data) { data.number("count", count); });
}

std::uint64_t lost_with(std::string_view event) {
  std::string_view data = find_member(event, "data");
  if (string_value(find_member(data, "code")) != "events_lost") return 1;
  return count_value(find_member(data, "count")).value_or(1);
}

std::string damaged_spool_event(std::size_t bytes, std::int64_t wall_ms) {
  return log_event(
      fmt::format("The last {} bytes of the runner's spool were not written whole; what they held is lost", bytes),
      wall_ms, "spool_damaged", [&](JsonObject& data) { data.number("bytes", static_cast<std::uint64_t>(bytes)); });
}

std::string new_producer_event(std::string_view why, std::int64_t wall_ms) {
  return log_event(fmt::format("The runner goes on under another producer id: {}", why), wall_ms, "producer_changed");
}

}  // namespace shepherd
