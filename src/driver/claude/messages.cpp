#include "driver/claude/claude_code.h"
#include "driver/claude/shown_text.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::string_view kLocalOpen = "<local-command-stdout>";
constexpr std::string_view kLocalClose = "</local-command-stdout>";

// What a local command (/compact, /context) printed, inside its tags.
std::optional<std::string_view> local_output(std::string_view text) {
  if (!text.starts_with(kLocalOpen)) return std::nullopt;
  text.remove_prefix(kLocalOpen.size());
  if (text.ends_with(kLocalClose)) text.remove_suffix(kLocalClose.size());
  return text;
}

}  // namespace

void ClaudeCode::assistant(Actions& out) {
  const JsonNode& message = record_.find("message");
  std::string_view id = record_.string(message, "id");
  std::string_view model = record_.string(message, "model");
  usage_.message(id, model, record_, record_.find(message, "usage"));
  hints_.turn = talk_.approvals.empty() ? Hints::Turn::running : Hints::Turn::waiting;
  turn_announced_ = false;
  bool failed = is_true(record_.find("is_api_error_message")) || is_true(record_.find("isApiErrorMessage")) ||
                record_.find("error").kind == JsonKind::string;
  message_content(failed, out);
  if (id != message_id_) tell_usage(out);
}

void ClaudeCode::message_content(bool failed, Actions& out) {
  const JsonNode& content = record_.find(record_.find("message"), "content");
  if (content.kind == JsonKind::string) return said(content, "text", out);
  for (const JsonNode* block = record_.first(content); block != nullptr; block = record_.after(*block)) {
    std::string_view type = record_.string(*block, "type");
    if (type == "text" && failed) {
      api_error(record_.string(*block, "text"), out);
    } else if (type == "text") {
      said(record_.find(*block, "text"), "text", out);
    } else if (type == "thinking") {
      said(record_.find(*block, "thinking"), "reasoning", out);
    } else if (type == "redacted_thinking") {
      EventParts parts = step(EventType::thinking);
      parts.summary = "(reasoning that the model does not show)";
      parts.data = R"({"kind":"reasoning","redacted":true})";
      emit(out, parts);
    } else if (type.ends_with("tool_use")) {
      tool_call(*block, out);
    } else if (type.ends_with("tool_result")) {
      tool_result(*block, out);
    } else {
      unknown(out);
    }
  }
}

void ClaudeCode::said(const JsonNode& text, std::string_view kind, Actions& out) {
  if (text.text.empty()) return;
  if (kind == "text" && parent_call().empty()) last_text_ = text.text;
  std::string_view kept = event_text(text.text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("kind", kind);
    if (kept.size() < text.text.size()) {
      object.text("text", kept);
    } else {
      object.json("text", text.slice);
    }
    std::string_view model = record_.string(record_.find("message"), "model");
    if (model != model_) object.text_unless_empty("model", model.substr(0, kMaxAgentIdBytes));
    if (is_true(record_.find("aborted"))) object.flag("aborted", true);
  });
  EventParts parts = step(EventType::thinking);
  std::string summary = one_line(kept, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  if (auto took = count_of(record_.find("thinking_duration_ms")); took && kind == "reasoning") {
    parts.duration_ms = static_cast<std::int64_t>(*took);
  }
  Detail detail;
  mark_cut(parts, detail, kept, text.text);
  emit(out, parts, std::move(detail));
}

// The agent writes a message of its own when the model's API has failed for good.
void ClaudeCode::api_error(std::string_view text, Actions& out) {
  std::string_view code = record_.string("api_error_type");
  if (code.empty()) code = record_.string("error");
  if (code == "unknown") code = {};  // what older versions say of every error
  bool fatal = parent_call().empty();
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", code.empty() ? "api_error" : code.substr(0, kMaxAgentIdBytes));
    object.flag("fatal", fatal);
    object.flag("recoverable", false);
    if (auto http = count_of(record_.find("api_error_status"))) object.number("status", *http);
    if (characters_in(text) > kTextSummaryCharacters) object.text("message", event_text(text));
  });
  if (fatal) last_error_ = text;
  EventParts parts = step(EventType::error);
  std::string summary = one_line(text, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

void ClaudeCode::tool_call(const JsonNode& block, Actions& out) {
  usage_.tool_use();
  std::string_view id = record_.string(block, "id");
  std::string_view tool = record_.string(block, "name");
  const JsonNode& given = record_.find(block, "input");
  std::string_view input = given.kind == JsonKind::object ? given.slice : "{}";
  EventParts parts = step(EventType::tool_call);
  OpenCall call;
  call.tool = tool.substr(0, kMaxAgentIdBytes);
  call.parent = parts.parent_call_id;
  call.started_ms = at_ms_;
  call.seen_ms = now_ms_;
  if (tool == "ExitPlanMode") call.plan = input;
  calls_.open(id, std::move(call));

  std::string summary = claude_call_summary(tool, input, cwd_);
  std::string event_id = std::string(id) + "/call";
  parts.summary = summary;
  parts.tool = tool;
  parts.input = input;
  parts.call_id = id;
  parts.event_id = id.empty() ? parts.event_id : event_id;
  emit(out, parts);
}

// The text of a result: a string, or blocks of text, images and references.
std::string ClaudeCode::result_text(const JsonNode& content) const {
  if (content.kind == JsonKind::string) return std::string(content.text);
  std::string text;
  for (const JsonNode* block = record_.first(content); block != nullptr; block = record_.after(*block)) {
    std::string_view type = record_.string(*block, "type");
    if (!text.empty()) text.push_back('\n');
    if (type == "text") {
      text.append(record_.string(*block, "text"));
    } else {
      std::string_view media = record_.string(record_.find(*block, "source"), "media_type");
      text.append("[").append(media.empty() ? type : media).append("]");
    }
  }
  return text;
}

// What the agent itself says of the call: that it was not made because a person or a rule was against it. A call that
// an interrupt ended is not among these.
bool ClaudeCode::was_rejected(std::string_view call_id) const {
  const JsonNode& about = record_.find("tool_result_meta");
  for (const JsonNode* each = record_.first(about); each != nullptr; each = record_.after(*each)) {
    if (record_.string(*each, "id") != call_id) continue;
    return record_.string(record_.find(*each, "permission_decision"), "decision") == "reject";
  }
  return false;
}

void ClaudeCode::tool_result(const JsonNode& block, Actions& out) {
  std::string_view id = record_.string(block, "tool_use_id");
  auto call = calls_.close(id);
  bool success = !is_true(record_.find(block, "is_error"));
  const JsonNode& content = record_.find(block, "content");
  std::string joined;
  std::string_view text = content.text;
  if (content.kind != JsonKind::string) {
    joined = result_text(content);
    text = joined;
  }
  bool denied = !success && ((call && call->denied) || was_rejected(id));
  std::string output = output_json(success ? Outcome::success : denied ? Outcome::denied : Outcome::failed, text);
  EventParts parts = step(EventType::tool_result);
  std::string summary = one_line(claude_shown_text(text), kTextSummaryCharacters);
  if (summary.empty()) summary = success ? "Done, no output" : denied ? "Denied" : "Failed, no output";
  std::string event_id = std::string(id) + "/result";
  parts.summary = summary;
  parts.output = output;
  parts.call_id = id;
  parts.event_id = id.empty() ? parts.event_id : event_id;
  if (call) {
    parts.tool = call->tool;
    if (parts.parent_call_id.empty()) parts.parent_call_id = call->parent;
    parts.duration_ms = std::max<std::int64_t>(0, at_ms_ - call->started_ms);
  }
  emit(out, parts);
  settle_answer(id, out);
  // A call that went on without an answer from here was decided by the agent.
  if (std::string asked = talk_.approvals.of_call(id); !asked.empty()) {
    close_approval(asked, success ? "approved" : "denied", "decided by the agent", out);
  }
}

void ClaudeCode::user(Actions& out) {
  shown_to_model(record_.string("uuid"), out);
  const JsonNode& content = record_.find(record_.find("message"), "content");
  if (content.kind == JsonKind::string) return user_text(content, out);
  for (const JsonNode* block = record_.first(content); block != nullptr; block = record_.after(*block)) {
    std::string_view type = record_.string(*block, "type");
    if (type.ends_with("tool_result")) {
      tool_result(*block, out);
    } else if (type == "text") {
      user_text(record_.find(*block, "text"), out);
    } else {
      EventParts parts = step(EventType::message);
      std::string summary = "[" + std::string(type) + "]";
      parts.summary = summary;
      parts.data = R"({"role":"user"})";
      emit(out, parts);
    }
  }
}

// What the model is given besides tool results: an operator's message as it is taken up, a sub-agent's task, the
// agent's own remarks to the model, the output of a local command.
void ClaudeCode::user_text(const JsonNode& text, Actions& out) {
  auto printed = local_output(text.text);
  std::string_view all = printed.value_or(text.text);
  std::string_view kept = event_text(all);
  std::string data = object_text([&](JsonObject& object) {
    if (!printed) object.text("role", "user");
    object.text(printed ? "text" : "content", kept);
    if (is_true(record_.find("isSynthetic")) || is_true(record_.find("isMeta"))) object.flag("synthetic", true);
  });
  EventParts parts = step(printed ? EventType::output : EventType::message);
  std::string summary = one_line(claude_shown_text(kept), kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, kept, all);
  emit(out, parts, std::move(detail));
}

}  // namespace shepherd
