#include "driver/claude/telemetry.h"

#include <algorithm>
#include <optional>

#include "driver/claude/shown_text.h"
#include "driver/claude/tools.h"
#include "driver/limits.h"
#include "json/slices.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kHidden = "<REDACTED>";  // in place of text that the person does not export

bool nothing_in_it(std::string_view, std::string_view) {
  return false;
}

bool is_object(std::string_view text) {
  JsonSlices record;
  return record.parse(text, nothing_in_it) && record.root().kind == JsonKind::object;
}

void add_step(SessionTelemetry& session, const EventParts& parts, const OtlpAttributes& attributes, bool named,
              bool works = true) {
  TelemetryStep step;
  step.event = make_event(parts, Detail().raw_json(attributes.json()).take());
  step.at_ms = parts.timestamp_ms;
  step.named = named;
  step.works = works;
  session.steps.push_back(std::move(step));
}

// What a call was given, as far as it was exported. Without its whole input, commands and paths are known.
std::string input_of(const OtlpAttributes& attributes) {
  std::string_view whole = attributes.text("tool_input");
  if (is_object(whole)) return std::string(whole);
  std::string_view command = attributes.text("full_command");
  std::string_view description;
  JsonSlices parameters;
  if (parameters.parse(attributes.text("tool_parameters"), nothing_in_it)) {
    if (command.empty()) command = parameters.string("full_command");
    description = parameters.string("description");
  }
  return object_text([&](JsonObject& object) {
    object.text_unless_empty("command", command);
    object.text_unless_empty("description", description);
    object.text_unless_empty("file_path", attributes.text("file_path"));
  });
}

void take_tokens(std::uint64_t& into, const OtlpAttributes& attributes, std::string_view key) {
  into = attributes.count(key).value_or(0);
}

std::optional<UsageMember> member_of(const OtlpPoint& point) {
  if (point.metric == "claude_code.cost.usage") return UsageMember::cost;
  if (point.metric != "claude_code.token.usage") return {};
  std::string_view type = point.attributes.text("type");
  if (type == "input") return UsageMember::input_tokens;
  if (type == "output") return UsageMember::output_tokens;
  if (type == "cacheRead") return UsageMember::cache_read_tokens;
  if (type == "cacheCreation") return UsageMember::cache_write_tokens;
  return {};
}

}  // namespace

ClaudeTelemetry::ClaudeTelemetry(const OtlpRequest& request, std::int64_t now_ms) : now_ms_(now_ms) {
  for (const OtlpLog& each : request.logs) {
    std::string_view input = each.attributes.text("tool_input");
    std::string_view id = each.attributes.text("tool_use_id");
    if (!id.empty() && is_object(input)) inputs_.emplace(id, input);
  }
}

void ClaudeTelemetry::log(const OtlpLog& log, SessionTelemetry& session) {
  std::string_view name = log.name;
  if (name.starts_with("claude_code.")) name.remove_prefix(std::string_view("claude_code.").size());
  if (name == "user_prompt") return prompt(log, session);
  if (name == "assistant_response") return response(log, session);
  if (name == "tool_decision") return decision(log, session);
  if (name == "tool_result") return result(log, session);
  if (name == "api_request") return api_call(log, session);
  if (name == "api_error") return api_error(log, session);
  read_unknown_log(log, now_ms_, session);
}

void ClaudeTelemetry::prompt(const OtlpLog& log, SessionTelemetry& session) {
  std::string_view text = log.attributes.text("prompt");
  bool known = !text.empty() && text != kHidden;
  if (known && session.prompt.empty()) session.prompt = text;
  std::string hidden = "A prompt of " + std::to_string(log.attributes.count("prompt_length").value_or(0)) +
                       " characters, which is not exported";
  std::string_view kept = known ? event_text(text) : std::string_view(hidden);
  std::string data = object_text([&](JsonObject& object) {
    object.text("role", "user");
    object.text("content", kept);
  });
  std::string summary = one_line(claude_shown_text(kept), kTextSummaryCharacters);
  std::string id = telemetry_event_id("otlp", log.time, log.attributes.json());
  EventParts parts = telemetry_parts(EventType::message, session, log.time, now_ms_);
  parts.summary = summary;
  parts.data = data;
  parts.event_id = id;
  add_step(session, parts, log.attributes, false);
}

void ClaudeTelemetry::response(const OtlpLog& log, SessionTelemetry& session) {
  std::string_view text = log.attributes.text("response");
  if (text.empty() || text == kHidden) return;
  std::string_view kept = event_text(text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("kind", "text");
    object.text("text", kept);
  });
  std::string summary = one_line(claude_shown_text(kept), kTextSummaryCharacters);
  std::string id = telemetry_event_id("otlp", log.time, log.attributes.json());
  EventParts parts = telemetry_parts(EventType::thinking, session, log.time, now_ms_);
  parts.summary = summary;
  parts.data = data;
  parts.event_id = id;
  add_step(session, parts, log.attributes, false);
}

void ClaudeTelemetry::call(const OtlpAttributes& attributes, std::uint64_t time, SessionTelemetry& session) {
  std::string_view call_id = attributes.text("tool_use_id");
  if (call_id.empty()) return;
  auto known = inputs_.find(call_id);
  std::string input = known == inputs_.end() ? input_of(attributes) : known->second;
  std::string_view tool = attributes.text("tool_name");
  std::string summary = claude_call_summary(tool, input, "");
  std::string id = std::string(call_id) + "/call";
  EventParts parts = telemetry_parts(EventType::tool_call, session, time, now_ms_);
  parts.summary = summary;
  parts.tool = tool;
  parts.input = input;
  parts.call_id = call_id;
  parts.event_id = id;
  add_step(session, parts, attributes, true);
}

void ClaudeTelemetry::decision(const OtlpLog& log, SessionTelemetry& session) {
  call(log.attributes, log.time, session);
  std::string_view call_id = log.attributes.text("tool_use_id");
  if (log.attributes.text("decision") != "reject" || call_id.empty()) return;
  std::string why = "Denied: " + std::string(log.attributes.text("source"));
  std::string output = output_json(Outcome::denied, why);
  std::string id = std::string(call_id) + "/result";
  EventParts parts = telemetry_parts(EventType::tool_result, session, log.time, now_ms_);
  parts.summary = why;
  parts.tool = log.attributes.text("tool_name");
  parts.output = output;
  parts.call_id = call_id;
  parts.event_id = id;
  add_step(session, parts, log.attributes, true);
}

void ClaudeTelemetry::result(const OtlpLog& log, SessionTelemetry& session) {
  std::string_view call_id = log.attributes.text("tool_use_id");
  if (call_id.empty()) return read_unknown_log(log, now_ms_, session);
  std::uint64_t took = log.attributes.count("duration_ms").value_or(0);
  std::uint64_t began = log.time - std::min(log.time, took * 1'000'000);
  call(log.attributes, began, session);
  bool success = log.attributes.truth("success").value_or(true);
  std::string_view error = log.attributes.text("error");
  std::string output = output_json(success ? Outcome::success : Outcome::failed, error);
  std::string summary = success ? "Done" : error.empty() ? "Failed" : one_line(error, kTextSummaryCharacters);
  std::string id = std::string(call_id) + "/result";
  EventParts parts = telemetry_parts(EventType::tool_result, session, log.time, now_ms_);
  parts.summary = summary;
  parts.tool = log.attributes.text("tool_name");
  parts.output = output;
  parts.call_id = call_id;
  parts.event_id = id;
  parts.duration_ms = static_cast<std::int64_t>(took);
  add_step(session, parts, log.attributes, true);
}

void ClaudeTelemetry::api_call(const OtlpLog& log, SessionTelemetry& session) {
  TelemetryCall call;
  call.id = log.attributes.text("request_id").substr(0, kMaxEventIdBytes);
  if (call.id.empty()) call.id = telemetry_event_id("call", log.time, log.attributes.json());
  call.model = log.attributes.text("model");
  take_tokens(call.usage.input_tokens, log.attributes, "input_tokens");
  take_tokens(call.usage.output_tokens, log.attributes, "output_tokens");
  take_tokens(call.usage.cache_read_tokens, log.attributes, "cache_read_tokens");
  take_tokens(call.usage.cache_write_tokens, log.attributes, "cache_creation_tokens");
  call.usage.cost_usd = std::clamp(log.attributes.number("cost_usd").value_or(0), 0.0, kMaxTelemetryValue);
  session.calls.push_back(std::move(call));
}

void ClaudeTelemetry::api_error(const OtlpLog& log, SessionTelemetry& session) {
  std::string text(log.attributes.text("error"));
  if (text.empty()) text = "A call of the model's API failed";
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", "api_error");
    object.flag("fatal", false);
    object.flag("recoverable", true);
    if (auto status = log.attributes.count("status_code")) object.number("status", *status);
  });
  std::string id = telemetry_event_id("otlp", log.time, log.attributes.json());
  EventParts parts = telemetry_parts(EventType::error, session, log.time, now_ms_);
  parts.summary = text;
  parts.data = data;
  parts.event_id = id;
  add_step(session, parts, log.attributes, false);
}

void ClaudeTelemetry::point(const OtlpPoint& point, SessionTelemetry& session) {
  auto member = member_of(point);
  if (!member) return;
  TelemetrySum sum;
  sum.series = telemetry_event_id(point.metric, 0, point.attributes.json());
  sum.model = point.attributes.text("model");
  sum.member = *member;
  sum.delta = point.delta;
  sum.start = point.start;
  sum.time = point.time;
  sum.value = point.value;
  session.sums.push_back(std::move(sum));
}

void ClaudeTelemetry::span(const OtlpSpan& span, SessionTelemetry& session) {
  if (span.name == "claude_code.tool") return call(span.attributes, span.start, session);
  if (span.name != "claude_code.interaction") return;
  std::string id = "otlp/turn/" + span.span_id;
  EventParts parts = telemetry_parts(EventType::status, session, span.end, now_ms_);
  parts.summary = "Waits for the next prompt";
  parts.data = R"({"state":"waiting_for_input"})";
  parts.event_id = id;
  parts.trace_id = span.trace_id;
  parts.span_id = span.span_id;
  add_step(session, parts, span.attributes, false, false);
  session.steps.back().waits = true;
}

}  // namespace shepherd
