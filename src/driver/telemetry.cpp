#include "driver/telemetry.h"

#include <algorithm>

#include "driver/limits.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

std::string fingerprint_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kDigits[hash >> static_cast<unsigned>(shift) & 15U]);
  return out;
}

// "claude_code.plugin_loaded" is shown as "plugin loaded".
std::string shown_name(std::string_view name) {
  std::string shown(name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1));
  std::ranges::replace(shown, '_', ' ');
  return shown;
}

}  // namespace

std::int64_t SessionTelemetry::newest_work_ms() const {
  std::int64_t newest = 0;
  for (const TelemetryStep& step : steps) {
    if (step.works) newest = std::max(newest, step.at_ms);
  }
  return newest;
}

std::string telemetry_event_id(std::string_view kind, std::uint64_t time, std::string_view record) {
  return std::string(kind) + "/" + std::to_string(time) + "/" + fingerprint_of(record);
}

std::int64_t telemetry_ms(std::uint64_t time, std::int64_t now_ms) {
  auto at = static_cast<std::int64_t>(time / 1'000'000);
  return at > 0 && at <= kMaxTimestampMs ? at : now_ms;
}

EventParts telemetry_parts(EventType type, const SessionTelemetry& session, std::uint64_t time, std::int64_t now_ms) {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = telemetry_ms(time, now_ms);
  parts.session_id = session.session_id;
  return parts;
}

void read_unknown_log(const OtlpLog& log, std::int64_t now_ms, SessionTelemetry& session) {
  std::string attributes = log.attributes.json();
  std::string_view body = log.body.kind == OtlpValue::Kind::text ? std::string_view(log.body.text) : std::string_view();
  std::string_view name = log.name.empty() ? body : std::string_view(log.name);
  std::string summary = log.name.empty() || body == log.name || body.ends_with("." + log.name) || body.empty()
                            ? shown_name(name)
                            : shown_name(name) + ": " + std::string(event_text(body));
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "telemetry");
    object.text_unless_empty("record", name.substr(0, kMaxTypeBytes));
    object.text_unless_empty("severity", std::string_view(log.severity).substr(0, kMaxTypeBytes));
  });
  std::string id = telemetry_event_id("otlp", log.time, std::string(name) + attributes);
  EventParts parts = telemetry_parts(EventType::log, session, log.time, now_ms);
  parts.summary = summary;
  parts.data = data;
  parts.event_id = id;
  parts.trace_id = log.trace_id;
  parts.span_id = log.span_id;
  session.steps.push_back({make_event(parts, Detail().raw_json(attributes).take()), parts.timestamp_ms});
}

DriverEvent telemetry_joined(const SessionTelemetry& session, std::int64_t at_ms) {
  EventParts parts;
  parts.type = EventType::session_start;
  parts.timestamp_ms = at_ms;
  parts.session_id = session.session_id;
  std::string summary = session.program + " reports this session by its telemetry";
  parts.summary = summary;
  parts.data = R"({"source":"telemetry"})";
  parts.event_id = "joined";
  return make_event(parts);
}

DriverEvent telemetry_goes_on(const SessionTelemetry& session, std::int64_t at_ms) {
  EventParts parts;
  parts.type = EventType::status;
  parts.timestamp_ms = at_ms;
  parts.session_id = session.session_id;
  parts.summary = "Working";
  parts.data = R"({"state":"running"})";
  std::string id = "running/" + std::to_string(at_ms);
  parts.event_id = id;
  return make_event(parts);
}

}  // namespace shepherd
