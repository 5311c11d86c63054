#include "driver/record_events.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "driver/limits.h"
#include "json/escapes.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/limits.h"

namespace shepherd {
namespace {

void append_members(JsonObject& object, std::string_view members) {
  if (!members.empty()) object.members(members);
}

}  // namespace

bool RecordEvents::read(std::string_view line, std::int64_t now_ms, Descend descend, Actions& out) {
  without_record(now_ms);
  bool good = record_.parse(line, descend);
  if (!good) {
    auto repaired = without_lone_surrogates(line);
    good = repaired && record_.parse(*repaired, descend);
  }
  if (!good || record_.root().kind != JsonKind::object) {
    not_protocol(line, out);
    return false;
  }
  has_record_ = true;
  return true;
}

void RecordEvents::without_record(std::int64_t now_ms) {
  now_ms_ = at_ms_ = now_ms;
  has_record_ = false;
}

void RecordEvents::set_time(std::int64_t wall_ms) {
  if (wall_ms > 0 && wall_ms <= kMaxTimestampMs) at_ms_ = wall_ms;
}

void RecordEvents::set_session(std::string_view id) {
  if (!id.empty() && id.size() <= kMaxAgentIdBytes) session_ = id;
}

EventParts RecordEvents::step(EventType type) const {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = at_ms_;
  parts.session_id = session_;
  return parts;
}

void RecordEvents::emit(Actions& out, const EventParts& parts, Detail detail) {
  if (std::exchange(has_record_, false)) detail.raw_json(record_.text());
  add_event(out, parts, detail.take());
}

void RecordEvents::status(Actions& out, std::string_view summary, std::string_view state,
                          std::string_view more_members) {
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("state", state);
    append_members(object, more_members);
  });
  EventParts parts = step(EventType::status);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

void RecordEvents::said(Actions& out, const SaidWords& words) {
  if (words.text.empty()) return;
  std::string_view kept = event_text(words.text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("kind", words.kind);
    object.text("text", kept);
  });
  EventParts parts = step(EventType::thinking);
  std::string summary = one_line(kept, kTextSummaryCharacters);
  if (summary.empty()) summary = "(blanks)";
  parts.summary = summary;
  parts.data = data;
  parts.event_id = words.event_id;
  parts.parent_call_id = words.parent_call_id;
  parts.duration_ms = words.duration_ms;
  Detail detail;
  mark_cut(parts, detail, kept, words.text);
  emit(out, parts, std::move(detail));
}

void RecordEvents::tool_call(Actions& out, OpenCalls& calls, std::string_view id, std::string_view tool,
                             std::string_view input, std::string_view summary, std::string_view parent) {
  OpenCall call;
  call.tool = tool.substr(0, kMaxAgentIdBytes);
  call.parent = parent;
  call.started_ms = at_ms_;
  call.seen_ms = now_ms_;
  calls.open(id, std::move(call));
  EventParts parts = step(EventType::tool_call);
  std::string event_id = id.empty() ? "" : std::string(id) + "/call";
  parts.summary = summary;
  parts.tool = tool;
  parts.input = input.starts_with('{') ? input : "{}";
  parts.call_id = id;
  parts.parent_call_id = parent;
  parts.event_id = event_id;
  emit(out, parts);
}

void RecordEvents::tool_result(Actions& out, OpenCalls& calls, const ToolResult& result) {
  auto call = calls.close(result.call_id);
  EventParts parts = step(EventType::tool_result);
  std::string summary = one_line(result.shown.empty() ? result.text : result.shown, kTextSummaryCharacters);
  if (summary.empty()) {
    summary = result.outcome == Outcome::success  ? "Done, no output"
              : result.outcome == Outcome::denied ? "Denied"
                                                  : "Failed, no output";
  }
  std::string output = output_json(result.outcome, result.text);
  std::string event_id = result.call_id.empty() ? "" : std::string(result.call_id) + "/result";
  parts.summary = summary;
  parts.output = output;
  parts.data = result.data;
  parts.call_id = result.call_id;
  parts.event_id = event_id;
  parts.duration_ms = result.duration_ms;
  if (call) {
    parts.tool = call->tool;
    parts.parent_call_id = call->parent;
    if (!result.duration_ms) parts.duration_ms = std::max<std::int64_t>(0, at_ms_ - call->started_ms);
  }
  emit(out, parts);
}

void RecordEvents::error(Actions& out, std::string_view code, std::string_view message, bool fatal,
                         std::string_view more_members) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", code.substr(0, kMaxAgentIdBytes));
    object.flag("fatal", fatal);
    object.flag("recoverable", !fatal);
    append_members(object, more_members);
    if (characters_in(message) > kTextSummaryCharacters) object.text("message", event_text(message));
  });
  EventParts parts = step(EventType::error);
  std::string summary = one_line(message, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, event_text(message), message);
  emit(out, parts, std::move(detail));
}

void RecordEvents::unknown(Actions& out, std::string_view name) {
  std::string_view known = name.empty() ? "no type" : first_characters(name, kTextSummaryCharacters / 2);
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "stdout");
    object.text("record", known);
  });
  EventParts parts = step(EventType::log);
  std::string summary = "Unknown record: " + std::string(known);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

void RecordEvents::note(Actions& out, std::string_view text) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "agent");
    object.text("line", event_text(text));
  });
  EventParts parts = step(EventType::log);
  std::string summary = one_line(text, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, event_text(text), text);
  emit(out, parts, std::move(detail));
}

// A line that is no record: a library's warning, or the last line of an agent that was killed while it wrote.
void RecordEvents::not_protocol(std::string_view line, Actions& out) {
  EventParts parts = step(EventType::log);
  std::string summary = line.starts_with("{\"")
                            ? "A record that is not whole: " + std::to_string(line.size()) + " bytes"
                            : one_line(line, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = R"({"stream":"stdout"})";
  add_event(out, parts, Detail().raw_text(line).take());
}

}  // namespace shepherd
