#include "driver/imported_session.h"

#include <utility>

#include "base/clock.h"
#include "driver/event_json.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {

void add_events(ImportedSession& session, Actions out) {
  for (DriverEvent& event : out.take_events()) {
    auto time = parse_timestamp(text_member(event.json, "timestamp"));
    session.events.push_back({time ? *time : session.last_ms, std::move(event)});
  }
}

void name_the_nameless(ImportedSession& session) {
  std::string before;
  int repeat = 0;
  for (auto& [at_ms, event] : session.events) {
    if (!find_member(event.json, "eventID").empty()) continue;
    std::string id = std::string(name(event.type)) + "/" + std::to_string(at_ms);
    repeat = id == before ? repeat + 1 : 0;
    before = id;
    if (repeat > 0) id += "/" + std::to_string(repeat);
    event.json.insert(event.json.size() - 1, ",\"eventID\":\"" + id + "\"");
  }
}

DriverEvent session_end(const ImportedSession& session) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("state", name(session.state));
    object.text("message", session.message);
  });
  std::string event_id = "end/" + std::to_string(session.last_ms);
  EventParts parts;
  parts.type = EventType::status;
  parts.timestamp_ms = session.last_ms;
  parts.session_id = session.session_id;
  parts.summary = session.message;
  parts.data = data;
  parts.event_id = event_id;
  return make_event(parts);
}

std::size_t newest_usage(const ImportedSession& session) {
  for (std::size_t i = session.events.size(); i-- > 0;) {
    if (session.events[i].event.type == EventType::usage) return i;
  }
  return session.events.size();
}

}  // namespace shepherd
