#include "driver/codex/telemetry.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "driver/codex/item.h"
#include "driver/limits.h"
#include "json/slices.h"
#include "json/write.h"

namespace shepherd {
namespace {

// Of the program's inner life: each is a record per request or per piece of an answer.
constexpr std::array<std::string_view, 3> kPassedRecords{"codex.startup_phase", "codex.api_request", "codex.turn_ttft"};

bool no_descent(std::string_view, std::string_view) {
  return false;
}

struct ExportedCall {
  std::string tool, input;
};

// The shell has the name and the input that it has in the agent's streams.
ExportedCall exported_call(const OtlpAttributes& attributes) {
  ExportedCall call{std::string(attributes.text("tool_name")), "{}"};
  JsonSlices arguments;
  bool known = arguments.parse(attributes.text("arguments"), no_descent) && arguments.root().kind == JsonKind::object;
  if (known) call.input = arguments.text();
  if (call.tool == "exec_command" || call.tool == "shell_command") {
    call.tool = "Bash";
    std::string_view command = known ? arguments.string("cmd") : std::string_view();
    if (known && command.empty()) command = arguments.string("command");
    if (!command.empty()) call.input = object_text([&](JsonObject& object) { object.text("command", command); });
  }
  return call;
}

void add_codex_step(SessionTelemetry& session, const EventParts& parts, const OtlpAttributes& attributes, bool named) {
  TelemetryStep step;
  step.event = make_event(parts, Detail().raw_json(attributes.json()).take());
  step.at_ms = parts.timestamp_ms;
  step.named = named;
  step.works = true;
  session.steps.push_back(std::move(step));
}

void read_prompt(const OtlpLog& log, std::int64_t now_ms, SessionTelemetry& session) {
  std::string_view text = log.attributes.text("prompt");
  bool known = !text.empty() && text != "[REDACTED]";
  if (known && session.prompt.empty()) session.prompt = text;
  std::string hidden = "A prompt of " + std::to_string(log.attributes.count("prompt_length").value_or(0)) +
                       " characters, which is not exported";
  std::string_view kept = known ? event_text(text) : std::string_view(hidden);
  std::string data = object_text([&](JsonObject& object) {
    object.text("role", "user");
    object.text("content", kept);
  });
  std::string summary = one_line(kept, kTextSummaryCharacters);
  std::string id = telemetry_event_id("otlp", log.time, log.attributes.json());
  EventParts parts = telemetry_parts(EventType::message, session, log.time, now_ms);
  parts.summary = summary;
  parts.data = data;
  parts.event_id = id;
  add_codex_step(session, parts, log.attributes, false);
}

// Result and call in one record; the decision before it does not say what the call was given.
void read_result(const OtlpLog& log, std::int64_t now_ms, SessionTelemetry& session) {
  std::string_view call_id = log.attributes.text("call_id");
  if (call_id.empty()) return read_unknown_log(log, now_ms, session);
  ExportedCall call = exported_call(log.attributes);
  std::uint64_t took = log.attributes.count("duration_ms").value_or(0);
  std::string summary = codex_call_summary(call.tool, call.input, "");
  std::string id = std::string(call_id) + "/call";
  EventParts parts =
      telemetry_parts(EventType::tool_call, session, log.time - std::min(log.time, took * 1'000'000), now_ms);
  parts.summary = summary;
  parts.tool = call.tool;
  parts.input = call.input;
  parts.call_id = call_id;
  parts.event_id = id;
  add_codex_step(session, parts, log.attributes, true);

  std::string_view text = log.attributes.text("output");
  bool success = log.attributes.truth("success").value_or(true);
  std::string output = output_json(success ? Outcome::success : Outcome::failed, text);
  summary = one_line(text, kTextSummaryCharacters);
  if (summary.empty()) summary = success ? "Done" : "Failed";
  id = std::string(call_id) + "/result";
  parts = telemetry_parts(EventType::tool_result, session, log.time, now_ms);
  parts.summary = summary;
  parts.tool = call.tool;
  parts.output = output;
  parts.call_id = call_id;
  parts.event_id = id;
  parts.duration_ms = static_cast<std::int64_t>(took);
  add_codex_step(session, parts, log.attributes, true);
}

// Tokens come with the last piece of an answer; it counts the cached ones among the input.
void read_piece(const OtlpLog& log, SessionTelemetry& session) {
  auto input = log.attributes.count("input_token_count");
  if (!input) return;
  TelemetryCall call;
  call.id = telemetry_event_id("call", log.time, log.attributes.json());
  call.model = log.attributes.text("model");
  auto among = [&](std::string_view key, std::uint64_t most) {
    return std::min(most, log.attributes.count(key).value_or(0));
  };
  call.usage.cache_read_tokens = among("cached_token_count", *input);
  call.usage.cache_write_tokens = among("cache_write_token_count", *input - call.usage.cache_read_tokens);
  call.usage.input_tokens = *input - call.usage.cache_read_tokens - call.usage.cache_write_tokens;
  call.usage.output_tokens = log.attributes.count("output_token_count").value_or(0);
  session.calls.push_back(std::move(call));
}

}  // namespace

void read_codex_log(const OtlpLog& log, std::int64_t now_ms, SessionTelemetry& session) {
  if (log.name == "codex.user_prompt") return read_prompt(log, now_ms, session);
  if (log.name == "codex.tool_result") return read_result(log, now_ms, session);
  if (log.name == "codex.sse_event") return read_piece(log, session);
  bool denied = log.attributes.text("decision").starts_with("denied");
  if (log.name == "codex.tool_decision" && !denied) return;
  if (std::ranges::find(kPassedRecords, log.name) != kPassedRecords.end()) return;
  read_unknown_log(log, now_ms, session);
}

}  // namespace shepherd
