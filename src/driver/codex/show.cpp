#include <algorithm>

#include "driver/codex/codex.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/condense.h"

namespace shepherd {

// Ids of items are the agent's own in a session; `exec` counts them from 0 in each run.
std::string Codex::event_id(std::string_view item_id, std::string_view part) const {
  if (item_id.empty() || item_id.starts_with("item_")) return {};
  return std::string(item_id) + std::string(part);
}

void Codex::item(const JsonNode& node, bool completed, Actions& out) {
  CodexItem item = read_codex_item(record_, node);
  switch (item.kind) {
    case CodexItem::Kind::call: {
      // Who works in which thread is told by the call that started it.
      const JsonNode& threads = record_.find(node, "receiverThreadIds");
      for (const JsonNode* each = record_.first(threads); each != nullptr; each = record_.after(*each)) {
        if (agents_.size() < kMaxOpenCalls) agents_.emplace(each->text, item.id);
      }
      if (calls_.find(item.id) == nullptr || !completed) call_begun(item, out);
      if (completed) call_ended(item, out);
      return;
    }
    case CodexItem::Kind::user_message:
      taken_up(item, out);
      if (completed) user_said(item, out);
      return;
    case CodexItem::Kind::agent_message:
    case CodexItem::Kind::reasoning:
    case CodexItem::Kind::plan:
    case CodexItem::Kind::to_do:
      if (completed) said(item, out);
      return;
    case CodexItem::Kind::compaction:
      if (completed) status(out, "Conversation compacted", "", R"("compact":{})");
      return;
    case CodexItem::Kind::warning:
      if (completed) log(out, item.text);
      return;
    case CodexItem::Kind::other:
      if (completed) unknown("item/" + item.type, out);
      return;
  }
}

void Codex::said(const CodexItem& item, Actions& out) {
  if (item.text.empty()) return;
  bool speaks = item.kind == CodexItem::Kind::agent_message;
  if (speaks && parent_call_.empty()) last_text_ = event_text(item.text);
  std::string_view kind = speaks ? "text" : item.kind == CodexItem::Kind::reasoning ? "reasoning" : "plan";
  std::string_view kept = event_text(item.text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("kind", kind);
    object.text("text", kept);
  });
  EventParts parts = step(EventType::thinking);
  std::string summary = one_line(kept, kTextSummaryCharacters);
  std::string id = event_id(item.id, "");
  parts.summary = summary.empty() ? std::string_view("(nothing to read)") : summary;
  parts.data = data;
  parts.event_id = id;
  if (item.started_ms > 0 && item.completed_ms > item.started_ms) {
    parts.duration_ms = item.completed_ms - item.started_ms;
  }
  Detail detail;
  mark_cut(parts, detail, kept, item.text);
  emit(out, parts, std::move(detail));
}

void Codex::user_said(const CodexItem& item, Actions& out) {
  std::string_view kept = event_text(item.text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("role", "user");
    object.text("content", kept);
  });
  EventParts parts = step(EventType::message);
  std::string summary = one_line(kept, kTextSummaryCharacters);
  std::string id = event_id(item.id, "");
  parts.summary = summary.empty() ? std::string_view("(no text)") : summary;
  parts.data = data;
  parts.event_id = id;
  Detail detail;
  mark_cut(parts, detail, kept, item.text);
  emit(out, parts, std::move(detail));
}

void Codex::call_begun(const CodexItem& item, Actions& out) {
  if (calls_.find(item.id) != nullptr) return;
  usage_.tool_use();
  std::int64_t began = item.started_ms > 0 ? item.started_ms : at_ms_;
  OpenCall call;
  call.tool = item.tool.substr(0, kMaxAgentIdBytes);
  call.parent = parent_call_;
  // What an approval of it shows.
  call.plan = item.input.size() <= kMaxWholeBytes ? item.input : condensed_input(item.tool, item.input);
  call.started_ms = began;
  call.seen_ms = now_ms_;
  calls_.open(item.id, std::move(call));
  std::string summary = codex_call_summary(item.tool, item.input, cwd_);
  std::string id = event_id(item.id, "/call");
  EventParts parts = step(EventType::tool_call);
  parts.timestamp_ms = began;
  parts.summary = summary;
  parts.tool = item.tool;
  parts.input = item.input;
  parts.call_id = item.id;
  parts.event_id = id;
  emit(out, parts);
}

void Codex::call_ended(const CodexItem& item, Actions& out) {
  auto call = calls_.close(item.id);
  bool denied = item.state == CodexItem::State::declined || (call && call->denied);
  bool good = !denied && item.state != CodexItem::State::failed && item.exit_code.value_or(0) == 0;
  std::string text = item.output;
  if (!good && item.exit_code && *item.exit_code != 0) {
    text = "Exit code " + std::to_string(*item.exit_code) + (text.empty() ? "" : "\n") + text;
  }
  std::string output = output_json(good ? Outcome::success : denied ? Outcome::denied : Outcome::failed, text);
  std::string data;
  if (item.exit_code) data = object_text([&](JsonObject& object) { object.number("exitCode", *item.exit_code); });
  std::string summary = one_line(event_text(text), kTextSummaryCharacters);
  if (summary.empty()) summary = good ? "Done, no output" : denied ? "Denied" : "Failed, no output";
  std::string id = event_id(item.id, "/result");
  EventParts parts = step(EventType::tool_result);
  if (item.completed_ms > 0) parts.timestamp_ms = item.completed_ms;
  parts.summary = summary;
  parts.tool = item.tool;
  parts.output = output;
  parts.data = data;
  parts.call_id = item.id;
  parts.event_id = id;
  if (call && parts.parent_call_id.empty()) parts.parent_call_id = call->parent;
  parts.duration_ms = item.duration_ms;
  if (!parts.duration_ms && call) {
    parts.duration_ms = std::max<std::int64_t>(0, parts.timestamp_ms - call->started_ms);
  }
  emit(out, parts);
}

// Calls whose end the agent does not tell any more.
void Codex::close_calls(std::string_view why, Actions& out) {
  for (const std::string& id : calls_.ids()) {
    auto call = calls_.close(id);
    if (!call) continue;
    std::string output = output_json(Outcome::failed, why);
    std::string event = event_id(id, "/result");
    EventParts parts = step(EventType::tool_result);
    parts.summary = why;
    parts.tool = call->tool;
    parts.output = output;
    parts.call_id = id;
    parts.parent_call_id = call->parent;
    parts.event_id = event;
    parts.duration_ms = std::max<std::int64_t>(0, at_ms_ - call->started_ms);
    emit(out, parts);
  }
}

}  // namespace shepherd
