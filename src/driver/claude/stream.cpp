#include "base/clock.h"

#include "driver/claude/claude_code.h"
#include "driver/limits.h"
#include "json/escapes.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"
namespace shepherd {
namespace {

// What a translation looks into. Everything else (tool inputs, lists of commands) is one slice.
bool stream_looks_into(std::string_view key, std::string_view parent) {
  constexpr std::string_view kKeys[] = {
      "message",
      "content",
      "usage",
      "event",
      "delta",
      "request",
      "response",
      "errors",
      "modelUsage",
      "tasks",
      "patch",
      "source",
      "compact_metadata",
      "compactMetadata",
      "mcp_servers",
      "permission_suggestions",
      "rules",
      "abandoned_blocks",
      "tool_result_meta",
      "permission_decision",
  };
  for (std::string_view known : kKeys) {
    if (known == key) return true;
  }
  return parent == "modelUsage";  // its members are named by models
}

// Known lines of transcripts that say nothing about the work.
bool is_bookkeeping(std::string_view type) {
  constexpr std::string_view kTypes[] = {"queue-operation", "attachment", "last-prompt",           "tools-used",
                                         "atis-latch",      "mode",       "file-history-snapshot", "keep_alive"};
  for (std::string_view known : kTypes) {
    if (known == type) return true;
  }
  return type.starts_with("api-request");
}

}  // namespace

void ClaudeCode::record(std::string_view line, std::int64_t now_ms, Actions& out) {
  now_ms_ = at_ms_ = now_ms;
  ++hints_.records;
  if (format_ == OutputFormat::text || format_ == OutputFormat::batch) {
    if (batch_.size() + line.size() < kMaxBatchBytes) batch_.append(line).push_back('\n');
    return;
  }
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    ++hints_.passed_over;
    return;
  }
  stream_record(line, out);
}

void ClaudeCode::stream_record(std::string_view line, Actions& out) {
  emitted_ = 0;
  bool good = record_.parse(line, stream_looks_into);
  if (!good) {
    auto repaired = without_lone_surrogates(line);
    good = repaired && record_.parse(*repaired, stream_looks_into);
  }
  if (!good) return not_protocol(line, out);
  if (record_.root().kind == JsonKind::array) return batch_array(std::string(record_.text()), out);
  auto time = parse_timestamp(record_.string("timestamp"));
  at_ms_ = time && *time > 0 && *time <= kMaxTimestampMs ? *time : now_ms_;
  std::string_view session = record_.string("session_id");
  if (session.empty()) session = record_.string("sessionId");
  if (!session.empty() && session.size() <= kMaxAgentIdBytes) hints_.session_id = session;
  std::size_t before = out.shown();
  dispatch(out);
  if (out.shown() == before) ++hints_.passed_over;
}

void ClaudeCode::dispatch(Actions& out) {
  std::string_view type = record_.string("type");
  if (type == "assistant") return assistant(out);
  if (type == "user") return user(out);
  if (type == "stream_event") return delta(out);
  if (type == "system") return system(out);
  if (type == "result") return result(out);
  if (type == "control_request") return control_request(out);
  if (type == "control_response") return control_response(out);
  if (type == "control_cancel_request") return control_cancel(out);
  if (type == "command_lifecycle") return lifecycle(out);
  if (type == "cost-state") return cost_state(out);
  if (!is_bookkeeping(type)) unknown(out);
}

// A line that is no JSON: a warning of a library, or the last line of an agent that was killed while it wrote.
void ClaudeCode::not_protocol(std::string_view line, Actions& out) {
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

void ClaudeCode::unknown(Actions& out) {
  std::string name(record_.string("type"));
  if (auto subtype = record_.string("subtype"); !subtype.empty()) name.append("/").append(subtype);
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", "stdout");
    object.text("record", std::string_view(name).substr(0, kMaxAgentIdBytes));
  });
  EventParts parts = step(EventType::log);
  std::string summary = "Unknown record: " + (name.empty() ? "no type" : name);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// The call inside which the record at hand came about.
std::string_view ClaudeCode::parent_call() const {
  std::string_view said = record_.string("parent_tool_use_id");
  return said.empty() ? std::string_view(parent_call_) : said;
}

// An event of the record at hand.
EventParts ClaudeCode::step(EventType type) {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = at_ms_;
  parts.session_id = hints_.session_id;
  parts.parent_call_id = parent_call();
  parts.event_id = record_.string("uuid");
  if (emitted_ > 0 && !parts.event_id.empty()) {
    event_id_ = std::string(parts.event_id) + "/" + std::to_string(emitted_ + 1);
    parts.event_id = event_id_;
  }
  return parts;
}

// The record itself goes with the first event it becomes.
void ClaudeCode::emit(Actions& out, const EventParts& parts, Detail detail) {
  if (emitted_++ == 0) detail.raw_json(record_.text());
  add_event(out, parts, detail.take());
}

void ClaudeCode::status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members) {
  std::string data = "{";
  if (!state.empty()) data.append(R"("state":")").append(state).append("\"");
  if (!more_members.empty()) data.append(data.size() > 1 ? "," : "").append(more_members);
  data.push_back('}');
  EventParts parts = step(EventType::status);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// Raw events of the model's API: text as it grows, and what only they say.
void ClaudeCode::delta(Actions& out) {
  const JsonNode& event = record_.find("event");
  std::string_view type = record_.string(event, "type");
  if (type == "message_start") {
    const JsonNode& message = record_.find(event, "message");
    message_id_ = record_.string(message, "id").substr(0, kMaxAgentIdBytes);
    usage_.message(message_id_, record_.string(message, "model"), record_, record_.find(message, "usage"));
  } else if (type == "message_delta") {
    usage_.message_end(message_id_, record_, record_.find(event, "usage"));
    tell_usage(out);
  } else if (type == "message_stop" && record_.find("abandoned_blocks").kind == JsonKind::object) {
    status(out, "The model's answer broke off; what came of it is void", "",
           "\"abandonedBlocks\":" + std::string(record_.find("abandoned_blocks").slice));
  } else if (type == "content_block_delta") {
    const JsonNode& piece = record_.find(event, "delta");
    std::string_view text = record_.string(piece, "text");
    if (text.empty()) text = record_.string(piece, "thinking");
    if (text.empty() || text.size() > kMaxDeltaBytes / 8) return;  // escaping may make six bytes of one
    std::string block = message_id_ + ":" + std::to_string(count_of(record_.find(event, "index")).value_or(0));
    out.delta({std::move(block), std::string(text)});
  }
}

void ClaudeCode::stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) {
  stderr_tail_.append(line.substr(0, kStderrTailBytes)).push_back('\n');
  if (stderr_tail_.size() > kStderrTailBytes) stderr_tail_.erase(0, stderr_tail_.size() - kStderrTailBytes);
  add_log(out, errors_.add(line, now_ms), "stderr", hints_.session_id);
}

void ClaudeCode::tick(std::int64_t now_ms, Actions& out) {
  add_log(out, errors_.due(now_ms), "stderr", hints_.session_id);
  now_ms_ = at_ms_ = now_ms;
  tell_usage(out);
}

}  // namespace shepherd
