#include <array>

#include "driver/acp/acp_agent.h"
#include "driver/acp/rpc_lines.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

// What a translation looks into. Everything else (inputs and outputs of tools, schemas) is one slice.
bool acp_looks_into(std::string_view key, std::string_view /*parent*/) {
  constexpr auto kKeys = std::to_array<std::string_view>({
      "params",
      "result",
      "error",
      "update",
      "content",
      "toolCall",
      "options",
      "resource",
      "entries",
      "availableCommands",
      "configOptions",
      "modes",
      "availableModes",
      "models",
      "availableModels",
      "agentCapabilities",
      "sessionCapabilities",
      "mcpCapabilities",
      "promptCapabilities",
      "authMethods",
      "agentInfo",
      "_meta",
      "steering",
      "quota",
      "token_count",
      "model_usage",
      "usage",
      "cost",
      "env",
      "args",
      "data",
  });
  for (std::string_view known : kKeys) {
    if (known == key) return true;
  }
  return false;
}

}  // namespace

void AcpAgent::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  ++hints_.records;
  emitted_ = 1;  // what is due belongs to an earlier record
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    ++hints_.passed_over;
    return;
  }
  if (!record_.parse(line, acp_looks_into)) return not_protocol(line, out);
  tell_due_calls(out);
  tell_usage(out);
  emitted_ = 0;
  std::size_t before = out.size();
  dispatch(out);
  if (out.size() == before) ++hints_.passed_over;
}

void AcpAgent::dispatch(Actions& out) {
  const JsonNode& method = record_.find("method");
  bool asks = record_.find("id").kind != JsonKind::null || !record_.find("id").slice.empty();
  if (method.kind != JsonKind::string) {
    if (asks) return response(out);
    return unknown("no method", out);
  }
  if (asks) return request(method.text, out);
  if (method.text == "session/update") return update(out);
  if (method.text == "$/cancel_request") return cancel_request(out);
  if (method.text == "elicitation/complete") return;
  unknown(method.text, out);
}

// Some agents print words for people between the records.
void AcpAgent::not_protocol(std::string_view line, Actions& out) {
  EventParts parts;
  parts.type = EventType::log;
  parts.timestamp_ms = now_ms_;
  parts.session_id = hints_.session_id;
  std::string summary = line.starts_with("{\"")
                            ? "A record that is not whole: " + std::to_string(line.size()) + " bytes"
                            : one_line(line, kTextSummaryCharacters);
  if (summary.empty()) summary = "A line without text";
  parts.summary = summary;
  parts.data = R"({"stream":"stdout"})";
  add_event(out, parts, Detail().raw_text(line).take());
}

void AcpAgent::unknown(std::string_view what, Actions& out) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "stdout");
    object.text("record", what.substr(0, kMaxAgentIdBytes));
  });
  EventParts parts = step(EventType::log);
  std::string summary = one_line("Unknown record: " + std::string(what), kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

EventParts AcpAgent::step(EventType type) {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = now_ms_;
  parts.session_id = hints_.session_id;
  return parts;
}

// The record itself goes with the first event it becomes.
void AcpAgent::emit(Actions& out, const EventParts& parts, Detail detail) {
  if (emitted_++ == 0 && !record_.text().empty()) detail.raw_json(record_.text());
  add_event(out, parts, detail.take());
}

void AcpAgent::status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members) {
  std::string data = "{";
  if (!state.empty()) data.append(R"("state":")").append(state).append("\"");
  if (!more_members.empty()) data.append(data.size() > 1 ? "," : "").append(more_members);
  data.push_back('}');
  EventParts parts = step(EventType::status);
  std::string line = one_line(summary, kTextSummaryCharacters);
  parts.summary = line;
  parts.data = data;
  emit(out, parts);
}

void AcpAgent::note(Actions& out, std::string_view summary) {
  EventParts parts = step(EventType::log);
  std::string line = one_line(summary, kTextSummaryCharacters);
  std::string data = object_text([&](JsonObject& object) { object.text("message", event_text(summary)); });
  parts.summary = line;
  parts.data = data;
  emit(out, parts);
}

void AcpAgent::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  stderr_tail_.append(line.substr(0, kStderrTailBytes)).push_back('\n');
  if (stderr_tail_.size() > kStderrTailBytes) stderr_tail_.erase(0, stderr_tail_.size() - kStderrTailBytes);
  add_log(out, errors_.add(line, now_ms), "stderr", hints_.session_id);
}

void AcpAgent::tick(std::int64_t now_ms, Actions& out) {
  now_ms_ = now_ms;
  emitted_ = 1;  // no record is at hand
  add_log(out, errors_.due(now_ms), "stderr", hints_.session_id);
  tell_due_calls(out);
  if (block_ && !in_turn() && now_ms - block_->changed_ms >= kTextJoinWait.count()) close_block(out);
  tell_usage(out);
}

}  // namespace shepherd
