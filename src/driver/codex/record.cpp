#include "base/clock.h"
#include "driver/codex/codex.h"
#include "driver/limits.h"
#include "json/escapes.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// What a translation looks into. Everything else (tool inputs, settings) is one slice.
bool codex_looks_into(std::string_view key, std::string_view parent) {
  constexpr std::string_view kKeys[] = {"params",
                                        "thread",
                                        "turn",
                                        "status",
                                        "payload",
                                        "tokenUsage",
                                        "total",
                                        "usage",
                                        "codexErrorInfo",
                                        "info",
                                        "rateLimits",
                                        "primary",
                                        "plan",
                                        "questions",
                                        "options",
                                        "permissions",
                                        "run",
                                        "entries",
                                        "total_token_usage",
                                        "message",
                                        "_meta",
                                        "activeFlags",
                                        "receiverThreadIds",
                                        "secondary",
                                        "changes",
                                        "rate_limits"};
  for (std::string_view known : kKeys) {
    if (known == key) return true;
  }
  return parent == "codexErrorInfo" || codex_item_looks_into(key, parent);
}

}  // namespace

void Codex::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  ++hints_.records;
  emitted_ = 0;
  parent_call_.clear();
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    ++hints_.passed_over;
    return;
  }
  bool good = record_.parse(line, codex_looks_into);
  if (!good) {
    auto repaired = without_lone_surrogates(line);
    good = repaired && record_.parse(*repaired, codex_looks_into);
  }
  if (!good || record_.root().kind != JsonKind::object) return not_protocol(line, out);
  std::size_t before = out.shown();
  if (record_.find("payload").kind == JsonKind::object) {
    rollout_record(out);
  } else if (record_.find("type").kind == JsonKind::string) {
    exec_record(out);
  } else {
    server_record(out);
  }
  if (out.shown() == before) ++hints_.passed_over;
}

// A line that is no JSON: a warning of a library, or the last line of an agent that was killed while it wrote.
void Codex::not_protocol(std::string_view line, Actions& out) {
  EventParts parts;
  parts.type = EventType::log;
  parts.timestamp_ms = now_ms_;
  parts.session_id = hints_.session_id;
  std::string summary = line.starts_with("{\"")
                            ? "A record that is not whole: " + std::to_string(line.size()) + " bytes"
                            : one_line(line, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = R"({"stream":"stdout"})";
  add_event(out, parts, Detail().raw_text(line).take());
}

void Codex::unknown(std::string_view name, Actions& out) {
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "stdout");
    object.text("record", name.substr(0, kMaxAgentIdBytes));
  });
  EventParts parts = step(EventType::log);
  std::string summary = "Unknown record: " + (name.empty() ? "no type" : std::string(name));
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// What the agent says for people beside its work.
void Codex::log(Actions& out, std::string_view text) {
  std::string_view kept = event_text(text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "stdout");
    object.text("line", kept);
  });
  EventParts parts = step(EventType::log);
  std::string summary = one_line(kept, kTextSummaryCharacters);
  parts.summary = summary.empty() ? std::string_view("The agent has a remark") : summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, kept, text);
  emit(out, parts, std::move(detail));
}

// An event of the record at hand.
EventParts Codex::step(EventType type) const {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = at_ms_;
  parts.session_id = hints_.session_id;
  parts.parent_call_id = parent_call_;
  return parts;
}

// The record itself goes with the first event it becomes.
void Codex::emit(Actions& out, const EventParts& parts, Detail detail) {
  if (emitted_++ == 0) detail.raw_json(record_.text());
  add_event(out, parts, detail.take());
}

void Codex::status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members) {
  std::string data = "{";
  if (!state.empty()) data.append(R"("state":")").append(state).append("\"");
  if (!more_members.empty()) data.append(data.size() > 1 ? "," : "").append(more_members);
  data.push_back('}');
  EventParts parts = step(EventType::status);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// `about` has the model, and the thread or its members; a session is begun once.
void Codex::begin_session(const JsonNode& about, Actions& out) {
  const JsonNode& inner = record_.find(about, "thread");
  const JsonNode& thread = inner.kind == JsonKind::object ? inner : about;
  std::string_view id = record_.string(thread, "id");
  if (id.empty()) id = record_.string(thread, "thread_id");
  if (id.empty() || id.size() > kMaxAgentIdBytes || id == hints_.session_id) return;
  hints_.session_id = id;
  for (const JsonNode* from : {&about, &thread}) {
    if (model_.empty()) model_ = record_.string(*from, "model").substr(0, kMaxAgentIdBytes);
    if (cwd_.empty()) cwd_ = record_.string(*from, "cwd");
  }
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("model", model_);
    object.text_unless_empty("cwd", event_text(cwd_));
    const JsonNode& policy = record_.find(about, "approvalPolicy");
    object.text_unless_empty("permissionMode", policy.text.substr(0, kMaxAgentIdBytes));
    std::string_view version = record_.string(thread, "cliVersion");
    if (version.empty()) version = record_.string(thread, "cli_version");
    object.text_unless_empty("agentVersion", version.substr(0, kMaxAgentIdBytes));
  });
  EventParts parts = step(EventType::session_start);
  std::string summary = model_.empty() ? "Session started" : "Session started with " + model_;
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

void Codex::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  stderr_tail_.append(line.substr(0, kStderrTailBytes)).push_back('\n');
  if (stderr_tail_.size() > kStderrTailBytes) stderr_tail_.erase(0, stderr_tail_.size() - kStderrTailBytes);
  add_log(out, errors_.add(line, now_ms), "stderr", hints_.session_id);
}

void Codex::tick(std::int64_t now_ms, Actions& out) {
  add_log(out, errors_.due(now_ms), "stderr", hints_.session_id);
  now_ms_ = at_ms_ = now_ms;
  tell_usage(out);
}

}  // namespace shepherd
