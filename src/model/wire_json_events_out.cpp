#include <algorithm>

#include "base/clock.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::string_view kSequence = "{\"sequence\":";
constexpr std::string_view kReceivedAt = ",\"receivedAt\":\"";
constexpr std::string_view kProducer = ",\"producer\":";
constexpr std::string_view kLate = ",\"late\":true";
constexpr std::size_t kTimestampBytes = 24;

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Error not_an_event() {
  return Error{ErrorCode::internal, "bad_event", "this is not a finished event; the store may be damaged", {}};
}

std::int64_t time_value(std::string_view json) {
  auto text = string_value(json);
  return text ? parse_timestamp(*text).value_or(0) : 0;
}

}  // namespace

void append_event(std::string& out, std::uint64_t sequence, std::int64_t received_ms, std::string_view producer,
                  bool late, std::string_view body) {
  out.append(kSequence);
  append_number(out, sequence);
  out.append(kReceivedAt);
  append_timestamp(out, received_ms);
  out.push_back('"');
  if (!producer.empty()) append_json_string(out.append(kProducer), producer);
  if (late) out.append(kLate);
  out.push_back(',');
  out.append(body);
  out.push_back('}');
}

std::string_view body_of(std::string_view event_json) {
  std::string_view rest = event_json;
  if (!take(rest, kSequence)) return {};
  rest.remove_prefix(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  if (!take(rest, kReceivedAt) || rest.size() < kTimestampBytes) return {};
  rest.remove_prefix(kTimestampBytes);
  if (!take(rest, "\"")) return {};
  if (take(rest, kProducer)) {
    std::size_t end = end_of_value(rest, 0);
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end);
  }
  take(rest, kLate);
  if (!take(rest, ",") || !rest.ends_with('}')) return {};
  return rest.substr(0, rest.size() - 1);
}

Result<EventView> parse_event(std::string_view event_json) {
  EventView view;
  JsonMembers members(event_json);
  while (members.next()) {
    std::string_view key = members.key();
    std::string_view value = members.value();
    if (key == "sequence") {
      view.sequence = count_value(value).value_or(0);
    } else if (key == "receivedAt") {
      view.received_ms = time_value(value);
    } else if (key == "timestamp") {
      view.timestamp_ms = time_value(value);
    } else if (key == "type") {
      view.type_name = string_value(value).value_or("");
    } else if (key == "summary") {
      view.summary = string_value(value).value_or("");
    } else if (key == "tool") {
      view.tool = string_value(value).value_or("");
    } else if (key == "sessionID") {
      view.session_id = string_value(value).value_or("");
    } else if (key == "late") {
      view.late = value == "true";
    }
  }
  if (view.sequence == 0 || view.type_name.empty()) return fail(not_an_event());
  view.type = event_type(view.type_name);
  return view;
}

}  // namespace shepherd
