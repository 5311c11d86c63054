#include <array>

#include "driver/claude/claude_code.h"
#include "driver/limits.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::string seconds(std::uint64_t milliseconds) {
  std::uint64_t tenths = (milliseconds + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string member(std::string_view key, std::string_view text) {
  std::string out = "\"" + std::string(key) + "\":";
  append_json_string(out, text);
  return out;
}

}  // namespace

void ClaudeCode::system(Actions& out) {
  std::string_view subtype = record_.string("subtype");
  if (subtype == "init") return init(out);
  if (subtype == "api_retry") return api_retry(out);
  if (subtype == "permission_denied") return permission_denied(out);
  if (subtype == "background_tasks_changed") return background_tasks(out);
  if (subtype.starts_with("task_")) return task(subtype, out);
  if (subtype == "hook_response") return hook_response(out);
  if (subtype == "status") return agent_status(out);
  if (subtype == "compact_boundary") return compacted(out);
  if (subtype == "session_title_changed") {
    return status(out, "Session is now called: " + std::string(record_.string("title").substr(0, kMaxAgentIdBytes)),
                  "");
  }
  if (subtype == "session_state_changed") {
    // The turn's own lines say the rest, with more behind it.
    if (record_.string("state") == "idle" && hints_.turn == Hints::Turn::running && ending_ && !turn_announced_) {
      hints_.turn = Hints::Turn::idle;
    }
    return;
  }
  constexpr std::array<std::string_view, 4> kNoise{"hook_started", "hook_progress", "thinking_tokens",
                                                   "control_request_progress"};
  for (std::string_view noise : kNoise) {
    if (subtype == noise) return;
  }
  if (subtype == "model_refusal_no_fallback") {
    EventParts parts = step(EventType::error);
    parts.summary = "The model refused to answer";
    parts.data = R"({"code":"refusal","fatal":false,"recoverable":true})";
    return emit(out, parts);
  }
  if (subtype == "local_command") return user_text(record_.find("content"), out);
  if (subtype == "informational" || subtype == "notification") {
    std::string_view text = record_.string("content");
    if (text.empty()) text = record_.string("message");
    EventParts parts = step(EventType::log);
    std::string data = "{" + member("stream", "agent") + "," + member("line", event_text(text)) + "}";
    std::string summary = one_line(text, kTextSummaryCharacters);
    parts.summary = summary;
    parts.data = data;
    Detail detail;
    mark_cut(parts, detail, event_text(text), text);
    return emit(out, parts, std::move(detail));
  }
  unknown(out);
}

// Printed at the start of every turn. The first one, and one with another model or mode, starts a session.
void ClaudeCode::init(Actions& out) {
  std::string_view model = record_.string("model");
  std::string_view mode = record_.string("permissionMode");
  bool again = !model_.empty() && model == model_ && mode == permission_mode_;
  hints_.turn = Hints::Turn::running;
  hints_.interrupted = false;
  turn_announced_ = false;
  lives_ = true;
  usage_told_ms_ = now_ms_;
  last_error_.clear();
  new_protocol_ = record_.find("capabilities").kind == JsonKind::array;
  if (again) {
    std::uint64_t turn = usage_.results() + 1;
    return status(out, "Turn " + std::to_string(turn) + " started", "running", "\"turn\":" + std::to_string(turn));
  }
  model_ = model;
  permission_mode_ = mode;
  cwd_ = record_.string("cwd");
  std::string data = object_text([&](JsonObject& object) {
    object.text("model", model);
    if (const JsonNode& tools = record_.find("tools"); tools.kind == JsonKind::array) object.json("tools", tools.slice);
    object.text("cwd", cwd_);
    object.text("permissionMode", mode);
    object.text_unless_empty("agentVersion", record_.string("claude_code_version"));
    const JsonNode& servers = record_.find("mcp_servers");
    if (servers.kind == JsonKind::array && servers.child != 0) object.json("mcpServers", servers.slice);
  });
  EventParts parts = step(EventType::session_start);
  std::string summary = "Session started with " + std::string(model);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// A wrong key is retried for minutes: without this it looks like an agent that thinks.
void ClaudeCode::api_retry(Actions& out) {
  auto http = count_of(record_.find("error_status"));
  auto attempt = count_of(record_.find("attempt")).value_or(0);
  auto most = count_of(record_.find("max_retries")).value_or(0);
  auto wait = count_of(record_.find("retry_delay_ms")).value_or(0);
  std::string_view cause = record_.string("error").substr(0, kMaxAgentIdBytes);
  std::string summary = "The model's API ";
  summary.append(http ? "answered " + std::to_string(*http) : "did not answer");
  if (!cause.empty() && cause != "unknown") summary.append(" (").append(cause).append(")");
  summary.append("; retry " + std::to_string(attempt) + " of " + std::to_string(most) + " in " + seconds(wait));
  std::string data = object_text([&](JsonObject& object) {
    object.text("code", "api_retry");
    object.flag("fatal", false);
    object.flag("recoverable", true);
    if (http) object.number("status", *http);
    object.text_unless_empty("cause", cause);
    object.number("attempt", attempt);
    object.number("maxRetries", most);
    object.number("retryDelayMS", wait);
  });
  EventParts parts = step(EventType::error);
  parts.summary = summary;
  parts.data = data;
  emit(out, parts);
}

// No operator could be asked, so the agent refused by itself.
void ClaudeCode::permission_denied(Actions& out) {
  std::string_view id = record_.string("tool_use_id");
  std::string_view tool = record_.string("tool_name");
  std::string_view message = record_.string("message");
  std::string data = object_text([&](JsonObject& object) {
    object.text("approvalID", id.empty() ? "unknown" : id.substr(0, kMaxAgentIdBytes));
    object.text("state", "denied");
    object.text("tool", tool.substr(0, kMaxAgentIdBytes));
    object.text_unless_empty("message", event_text(message));
    object.text("by", "agent");
  });
  EventParts parts = step(EventType::approval);
  std::string summary = "Denied by the agent's rules: " + std::string(tool);
  parts.summary = summary;
  parts.tool = tool;
  parts.data = data;
  parts.call_id = id;
  if (const OpenCall* call = calls_.find(id)) parts.parent_call_id = call->parent;
  Detail detail;
  mark_cut(parts, detail, event_text(message), message);
  emit(out, parts, std::move(detail));
  calls_.decided(id, OpenCalls::Decision::denied, now_ms_);
}

// Sub-agents, background commands, and foreground commands that take long.
void ClaudeCode::task(std::string_view subtype, Actions& out) {
  std::string_view call = record_.string("tool_use_id");
  std::string_view description = record_.string("description");
  std::string_view state = record_.string("status");
  if (state.empty()) state = record_.string(record_.find("patch"), "status");
  bool agent = record_.string("task_type") == "local_agent" || !record_.string("subagent_type").empty();
  bool background = is_true(record_.find("is_backgrounded"));
  std::string what(agent ? "Sub-agent" : background ? "Background command" : "Command");
  std::string id(record_.string("task_id").substr(0, kMaxAgentIdBytes));
  std::string summary;
  if (subtype == "task_started") {
    summary = what + (agent || background ? " started: " : " still running: ") + std::string(description);
    if (tasks_.size() < kMaxOpenCalls) tasks_[id] = {what, one_line(description, kTextSummaryCharacters)};
    settle_answer(call, out);
  } else if (subtype == "task_progress") {
    summary = "Sub-agent: " + std::string(description);
  } else if (subtype == "task_notification") {
    summary = "Ended (" + std::string(state) + "): " + std::string(record_.string("summary"));
    tasks_.erase(id);
  } else if (subtype == "task_updated") {
    // By its name: its id says nothing to people.
    auto known = tasks_.find(id);
    summary = (known == tasks_.end() ? "Task" : known->second.what) + " " + std::string(state);
    if (known != tasks_.end() && !known->second.name.empty()) summary += ": " + known->second.name;
  } else {
    return unknown(out);
  }
  std::string more = "\"task\":";
  write_object(more, [&](JsonObject& object) {
    object.text("id", id);
    object.text_unless_empty("kind", record_.string("task_type"));
    object.text_unless_empty("agent", record_.string("subagent_type"));
    object.text_unless_empty("state", state);
    if (subtype == "task_started") object.flag("background", background);
    object.text_unless_empty("outputFile", record_.string("output_file"));
    const JsonNode& used = record_.find("usage");
    if (used.kind == JsonKind::object) {
      object.number("totalTokens", count_of(record_.find(used, "total_tokens")).value_or(0));
      object.number("toolUses", count_of(record_.find(used, "tool_uses")).value_or(0));
      object.number("durationMS", count_of(record_.find(used, "duration_ms")).value_or(0));
    }
  });
  std::string data = "{" + more + "}";
  EventParts parts = step(EventType::status);
  summary = one_line(summary, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  parts.call_id = call;
  emit(out, parts);
}

void ClaudeCode::background_tasks(Actions& out) {
  const JsonNode& tasks = record_.find("tasks");
  std::size_t count = 0;
  for (const JsonNode* each = record_.first(tasks); each != nullptr; each = record_.after(*each)) ++count;
  hints_.background_tasks = count;
  std::string summary = count == 0
                            ? "No background task is running"
                            : std::to_string(count) + " background task" + (count == 1 ? " is" : "s are") + " running";
  status(out, summary, "", "\"backgroundTasks\":" + std::string(tasks.kind == JsonKind::array ? tasks.slice : "[]"));
}

void ClaudeCode::hook_response(Actions& out) {
  std::string_view hook = record_.string("hook_name");
  std::string_view outcome = record_.string("outcome");
  std::string_view said = record_.string("stderr");
  if (said.empty()) said = record_.string("output");
  bool good = outcome == "success";
  std::string data = object_text([&](JsonObject& object) {
    object.text(good ? "stream" : "code", good ? "hook" : "hook_failed");
    if (!good) {
      object.flag("fatal", false);
      object.flag("recoverable", true);
    }
    object.text("hook", hook.substr(0, kMaxAgentIdBytes));
    object.text("event", record_.string("hook_event").substr(0, kMaxAgentIdBytes));
    object.text("outcome", outcome.substr(0, kMaxAgentIdBytes));
    if (auto code = number_of(record_.find("exit_code"))) object.number("exitCode", *code);
    object.text_unless_empty("line", event_text(said));
  });
  EventParts parts = step(good ? EventType::log : EventType::error);
  std::string summary = "Hook " + std::string(hook) + ": " + std::string(said.empty() ? outcome : event_text(said));
  summary = one_line(summary, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  Detail detail;
  mark_cut(parts, detail, event_text(said), said);
  emit(out, parts, std::move(detail));
}

void ClaudeCode::agent_status(Actions& out) {
  std::string_view mode = record_.string("permissionMode");
  if (!mode.empty()) {
    permission_mode_ = mode;
    return status(out, "Permission mode is now " + std::string(mode), "", member("permissionMode", mode));
  }
  if (record_.string("status") == "compacting") return status(out, "Compacting the conversation", "");
  std::string_view outcome = record_.string("compact_result");
  if (!outcome.empty() && outcome != "success") {
    EventParts parts = step(EventType::error);
    parts.summary = "The conversation could not be compacted";
    parts.data = R"({"code":"compact_failed","fatal":false,"recoverable":true})";
    emit(out, parts);
  }
}

void ClaudeCode::compacted(Actions& out) {
  const JsonNode* facts = &record_.find("compact_metadata");
  if (facts->kind != JsonKind::object) facts = &record_.find("compactMetadata");
  auto count = [&](std::string_view snake, std::string_view camel) {
    return count_of(record_.find(*facts, snake)).value_or(count_of(record_.find(*facts, camel)).value_or(0));
  };
  std::uint64_t before = count("pre_tokens", "preTokens");
  std::uint64_t after = count("post_tokens", "postTokens");
  std::string more = "\"compact\":";
  write_object(more, [&](JsonObject& object) {
    object.text_unless_empty("trigger", record_.string(*facts, "trigger"));
    object.number("tokensBefore", before);
    object.number("tokensAfter", after);
  });
  status(out, "Conversation compacted: " + std::to_string(before) + " to " + std::to_string(after) + " tokens", "",
         more);
}

}  // namespace shepherd
