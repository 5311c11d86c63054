#include "driver/claude/hook.h"

#include "base/clock.h"
#include "driver/claude/shown_text.h"
#include "driver/claude/tools.h"
#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/escapes.h"
#include "json/slices.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

bool hook_looks_into(std::string_view key, std::string_view parent) {
  return key == "tool_response" || (parent == "tool_response" && (key == "content" || key == "file"));
}

// The same on every machine and in every version: part of event ids.
std::string fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kDigits[hash >> static_cast<unsigned>(shift) & 15U]);
  return out;
}

EventParts parts_of(EventType type, const ClaudeHook& hook) {
  EventParts parts;
  parts.type = type;
  parts.timestamp_ms = hook.at_ms;
  parts.session_id = hook.session_id;
  return parts;
}

// Threads: caller.
class HookReader {
 public:
  HookReader(const JsonSlices& record, ClaudeHook& hook) : record_(record), hook_(hook) {}

  void read() {
    std::string_view name = hook_.name;
    if (name == "SessionStart") return session_start();
    if (name == "UserPromptSubmit") return prompt();
    if (name == "PreToolUse") return call();
    if (name == "PostToolUse") return result(true);
    if (name == "PostToolUseFailure") return result(false);
    if (name == "PermissionRequest") return asks();
    if (name == "MessageDisplay") return shows_text();
    if (name == "Stop") return turn_ended();
    if (name == "StopFailure") return turn_failed();
    if (name == "SessionEnd") return session_end();
    if (name == "PreCompact") return status("Compacting its context", "");
    if (name == "PostCompact") return status("Compacted its context", "");
    if (name == "Notification") return log(record_.string("message"));
    if (name == "SubagentStart") return log("Sub-agent started: " + std::string(record_.string("agent_type")));
    if (name == "SubagentStop") return log("Sub-agent ended: " + std::string(record_.string("agent_type")));
    if (name == "PostToolBatch") return;  // its calls have been reported one by one
    if (name == kHooksLost) return calls_lost();
    log("Hook " + hook_.name);
  }

 private:
  // An id for what the agent gives none: a kind and the time.
  std::string timed(std::string_view kind) const { return std::string(kind) + "/" + std::to_string(hook_.at_ms); }

  void emit(EventParts parts, std::string_view event_id, Detail detail = {}) {
    parts.event_id = event_id;
    parts.parent_call_id = record_.string("parent_tool_use_id");
    hook_.events.push_back(make_event(parts, detail.raw_json(record_.text()).take()));
  }

  // Members of `data` that say which sub-agent it is; without braces.
  void add_agent(JsonObject& object) const {
    object.text_unless_empty("agentID", record_.string("agent_id").substr(0, kMaxAgentIdBytes));
    object.text_unless_empty("agentType", record_.string("agent_type").substr(0, kMaxAgentIdBytes));
  }
  std::string agent_data() const {
    if (record_.string("agent_id").empty()) return {};
    std::string data = object_text([&](JsonObject& object) { add_agent(object); });
    return data;
  }

  void session_start() {
    hook_.opens = true;
    std::string_view source = record_.string("source");
    std::string data = object_text([&](JsonObject& object) {
      object.text_unless_empty("cwd", event_text(hook_.cwd));
      object.text_unless_empty("model", record_.string("model").substr(0, kMaxAgentIdBytes));
      object.text_unless_empty("permissionMode", record_.string("permission_mode").substr(0, kMaxAgentIdBytes));
      object.text_unless_empty("source", source.substr(0, kMaxAgentIdBytes));
    });
    std::string summary = source == "resume"    ? "Session resumed"
                          : source == "compact" ? "Session goes on after compaction"
                                                : "Session started";
    if (!hook_.cwd.empty()) summary += " in " + hook_.cwd;
    EventParts parts = parts_of(EventType::session_start, hook_);
    parts.summary = summary;
    parts.data = data;
    emit(parts, timed("start"));
  }

  void prompt() {
    hook_.opens = hook_.works = true;
    hook_.prompt = record_.string("prompt");
    std::string_view kept = event_text(hook_.prompt);
    std::string data = object_text([&](JsonObject& object) {
      object.text("role", "user");
      object.text("content", kept);
    });
    EventParts parts = parts_of(EventType::message, hook_);
    std::string summary = one_line(claude_shown_text(kept), kTextSummaryCharacters);
    parts.summary = summary;
    parts.data = data;
    Detail detail;
    mark_cut(parts, detail, kept, hook_.prompt);
    // A prompt_id does not name one prompt: those of a resumed session share it.
    emit(parts, timed("prompt"), std::move(detail));
  }

  void call() {
    hook_.works = true;
    std::string_view id = record_.string("tool_use_id");
    std::string_view tool = record_.string("tool_name");
    const JsonNode& given = record_.find("tool_input");
    std::string_view input = given.kind == JsonKind::object ? given.slice : "{}";
    std::string summary = claude_call_summary(tool, input, hook_.cwd);
    std::string data = agent_data();
    EventParts parts = parts_of(EventType::tool_call, hook_);
    parts.summary = summary;
    parts.tool = tool;
    parts.input = input;
    parts.call_id = id;
    parts.data = data;
    emit(parts, id.empty() ? timed("call") : std::string(id) + "/call");
  }

  // What a tool gave back differs by tool: output of a command, text, a file, or an object of its own.
  std::string response_text() const {
    const JsonNode& response = record_.find("tool_response");
    if (response.kind == JsonKind::string) return std::string(response.text);
    if (response.kind == JsonKind::array) return text_of_blocks(response);
    const JsonNode& printed = record_.find(response, "stdout");
    if (printed.kind == JsonKind::string) {
      std::string text(printed.text);
      std::string_view errors = record_.string(response, "stderr");
      if (!errors.empty()) text.append(text.empty() ? "" : "\n").append(errors);
      return text;
    }
    const JsonNode& content = record_.find(response, "content");
    if (content.kind == JsonKind::array) return text_of_blocks(content);
    if (content.kind == JsonKind::string) return std::string(content.text);
    const JsonNode& file = record_.find(response, "file");
    if (file.kind == JsonKind::object) return std::string(record_.string(file, "content"));
    return std::string(response.kind == JsonKind::null ? std::string_view() : response.slice);
  }

  std::string text_of_blocks(const JsonNode& blocks) const {
    std::string text;
    for (const JsonNode* block = record_.first(blocks); block != nullptr; block = record_.after(*block)) {
      if (!text.empty()) text.push_back('\n');
      std::string_view type = record_.string(*block, "type");
      if (type == "text") {
        text.append(record_.string(*block, "text"));
      } else {
        text.append("[").append(type).append("]");
      }
    }
    return text;
  }

  void result(bool success) {
    hook_.works = true;
    std::string_view id = record_.string("tool_use_id");
    std::string text = success ? response_text() : std::string(record_.string("error"));
    std::string output = output_json(success ? Outcome::success : Outcome::failed, text);
    std::string summary = one_line(claude_shown_text(text), kTextSummaryCharacters);
    if (summary.empty()) summary = success ? "Done, no output" : "Failed, no output";
    std::string data = agent_data();
    EventParts parts = parts_of(EventType::tool_result, hook_);
    parts.summary = summary;
    parts.tool = record_.string("tool_name");
    parts.output = output;
    parts.call_id = id;
    parts.data = data;
    if (auto took = count_of(record_.find("duration_ms"))) parts.duration_ms = static_cast<std::int64_t>(*took);
    emit(parts, id.empty() ? timed("result") : std::string(id) + "/result");
  }

  // Only the person at the agent's own terminal can answer.
  void asks() {
    const JsonNode& given = record_.find("tool_input");
    std::string_view input = given.kind == JsonKind::object ? given.slice : "{}";
    status("Asks in its terminal: " + claude_call_summary(record_.string("tool_name"), input, hook_.cwd),
           "waiting_for_input", "ask");
  }

  // Text as the agent shows it, in pieces: for live watchers only. The end of the turn has the last of it whole.
  void shows_text() {
    std::string_view text = record_.string("delta");
    if (text.empty() || text.size() > kMaxDeltaBytes / 8) return;  // escaping may make six bytes of one
    std::string block(record_.string("message_id").substr(0, kMaxAgentIdBytes));
    hook_.deltas.push_back({std::move(block), std::string(text)});
  }

  void says(std::string_view text) {
    std::string_view kept = event_text(text);
    std::string data = object_text([&](JsonObject& object) {
      object.text("kind", "text");
      object.text("text", kept);
    });
    EventParts parts = parts_of(EventType::thinking, hook_);
    std::string summary = one_line(claude_shown_text(kept), kTextSummaryCharacters);
    parts.summary = summary;
    parts.data = data;
    Detail detail;
    mark_cut(parts, detail, kept, text);
    emit(parts, timed("text"), std::move(detail));
  }

  void turn_ended() {
    if (std::string_view text = record_.string("last_assistant_message"); !text.empty()) says(text);
    status("Waits for the next prompt", "waiting_for_input", "stop");
  }

  void turn_failed() {
    std::string_view text = record_.string("error_details");
    if (text.empty()) text = record_.string("error");
    if (text.empty()) text = "The turn failed";
    EventParts parts = parts_of(EventType::error, hook_);
    parts.summary = text;
    parts.data = R"({"code":"turn_failed","fatal":false,"recoverable":true})";
    emit(parts, timed("error"));
    status("Waits for the next prompt", "waiting_for_input", "stop");
  }

  void session_end() {
    hook_.ends = true;
    std::string_view reason = record_.string("reason");
    std::string summary = "Session ended";
    if (!reason.empty() && reason != "other") summary += ": " + std::string(reason.substr(0, kMaxAgentIdBytes));
    status(summary, "completed", "end");
  }

  void status(std::string_view summary, std::string_view state, std::string_view kind = "status") {
    std::string data = object_text([&](JsonObject& object) { object.text_unless_empty("state", state); });
    EventParts parts = parts_of(EventType::status, hook_);
    parts.summary = summary;
    parts.data = data;
    emit(parts, timed(kind));
  }

  void calls_lost() {
    std::uint64_t lost = count_of(record_.find("lost")).value_or(0);
    std::uint64_t elsewhere = count_of(record_.find("elsewhere")).value_or(0);
    std::string text = std::to_string(lost) + (lost == 1 ? " hook call was" : " hook calls were") +
                       " lost here: too many waited for a server";
    if (elsewhere > 0) text += "; " + std::to_string(elsewhere) + " more of other sessions";
    log(text);
  }

  void log(std::string_view text) {
    std::string data = object_text([&](JsonObject& object) {
      object.text("stream", "hook");
      object.text("record", hook_.name);
      add_agent(object);
    });
    EventParts parts = parts_of(EventType::log, hook_);
    parts.summary = text.empty() ? std::string_view(hook_.name) : text;
    parts.data = data;
    emit(parts, timed("log") + "/" + fingerprint(record_.text()));
  }

  const JsonSlices& record_;
  ClaudeHook& hook_;
};

}  // namespace

Result<ClaudeHook> read_claude_hook(std::string_view payload, std::int64_t now_ms) {
  JsonSlices record;
  bool good = record.parse(payload, hook_looks_into);
  if (!good) {
    auto repaired = without_lone_surrogates(payload);
    good = repaired && record.parse(*repaired, hook_looks_into);
  }
  ClaudeHook hook;
  hook.session_id = record.string("session_id");
  hook.name = record.string("hook_event_name").substr(0, kMaxTypeBytes);
  // Session ids become part of a task's id.
  bool plain = hook.session_id.size() <= kMaxEventIdBytes && !hook.session_id.empty();
  for (char c : hook.session_id) {
    bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    plain = plain && known;
  }
  if (!good || !plain || hook.name.empty()) {
    return fail(ErrorCode::invalid_argument, "bad_hook",
                "A hook call is an object with `session_id` (letters, digits, - and _) and `hook_event_name`.");
  }
  hook.cwd = record.string("cwd");
  auto time = parse_timestamp(record.string("timestamp"));
  hook.at_ms = time && *time > 0 && *time <= kMaxTimestampMs ? *time : now_ms;
  HookReader(record, hook).read();
  return hook;
}

DriverEvent claude_session_joined(const ClaudeHook& hook) {
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("cwd", event_text(hook.cwd));
    object.text("source", "joined");
  });
  EventParts parts = parts_of(EventType::session_start, hook);
  parts.summary = "Joined a session that was under way";
  parts.data = data;
  parts.event_id = "joined";
  return make_event(parts);
}

DriverEvent claude_goes_on(const ClaudeHook& hook) {
  std::string event_id = "running/" + std::to_string(hook.at_ms);
  EventParts parts = parts_of(EventType::status, hook);
  parts.summary = "Working";
  parts.data = R"({"state":"running"})";
  parts.event_id = event_id;
  return make_event(parts);
}

}  // namespace shepherd
