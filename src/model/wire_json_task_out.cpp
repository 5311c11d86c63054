#include "json/write.h"

#include "model/condense.h"
#include "model/usage_json.h"
#include "model/wire_json.h"
namespace shepherd {
namespace {

constexpr std::size_t kTitleCharacters = 120;

bool has_repo(const TaskInfo& spec) {
  return !spec.repo_url.empty() || !spec.repo_ref.empty();
}

void append_source(JsonObject& work, const TaskInfo& spec) {
  work.text_unless_empty("sourceURL", spec.source_url);
  work.text_unless_empty("sourceType", spec.source_type);
  work.text_unless_empty("sourceID", spec.source_id);
}

// Writes the optional members; those without a value are left out. The order is part of a request's fingerprint.
// `whole` is nullptr for a row.
void append_options(JsonObject& object, const TaskInfo& spec, const TaskSpec* whole, const std::string& runner) {
  object.text_unless_empty("mode", spec.mode);
  object.text_unless_empty("runner", runner);
  object.text_unless_empty("workflowID", spec.workflow_id);
  object.text_unless_empty("resumeOf", spec.resume_of);
  if (spec.max_turns > 0) object.number("maxTurns", spec.max_turns);
  if (spec.timeout_seconds > 0) object.number("timeout", spec.timeout_seconds);
  if (spec.budget_usd > 0) object.number("budget", spec.budget_usd);
  if (whole != nullptr && !whole->allowed_tools.empty()) object.texts("allowedTools", whole->allowed_tools);
  if (whole != nullptr && !whole->command.empty()) object.texts("command", whole->command);
  if (!spec.callback_events.empty()) object.texts("callbackEvents", spec.callback_events);
}

void append_commands(std::string& out, const std::vector<TaskCommand>& commands) {
  out.push_back('[');
  for (const TaskCommand& command : commands) {
    if (&command != &commands.front()) out.push_back(',');
    write_object(out, [&](JsonObject& object) {
      object.text("id", command.id);
      object.text("kind", name(command.kind));
      object.text("state", name(command.state));
      object.text("by", command.by);
      object.number("sequence", command.sequence);
      object.text_unless_empty("approvalID", command.approval_id);
      object.text_unless_empty("reason", command.reason);
    });
  }
  out.push_back(']');
}

void append_approvals(std::string& out, const std::vector<TaskApproval>& approvals) {
  out.push_back('[');
  for (const TaskApproval& approval : approvals) {
    if (&approval != &approvals.front()) out.push_back(',');
    write_object(out, [&](JsonObject& object) {
      object.text("approvalID", approval.id);
      object.text_unless_empty("kind", approval.kind);
      object.text_unless_empty("tool", approval.tool);
      object.text("summary", approval.summary);
      object.number("sequence", approval.sequence);
      if (approval.expires_ms != 0) object.time("expiresAt", approval.expires_ms);
    });
  }
  out.push_back(']');
}

void append_status(std::string& out, const TaskState& state) {
  write_object(out, [&](JsonObject& status) {
    status.text("phase", phase(state.state));
    status.text("state", name(state.state));
    status.text("message", state.message);
    status.text("prURL", state.pr_url);
    status.text("error", state.error);
  });
}

}  // namespace

std::string shown_title(const TaskSpec& spec) {
  if (!spec.title.empty()) return spec.title;
  std::string_view line = spec.description;
  line = line.substr(0, line.find_first_of("\r\n"));
  return std::string(first_characters(line, kTitleCharacters));
}

TaskInfo info_of(const TaskSpec& spec) {
  TaskInfo info = static_cast<const TaskInfo&>(spec);
  info.title = shown_title(spec);
  return info;
}

void append_repo(std::string& out, const TaskInfo& spec) {
  write_object(out, [&](JsonObject& repo) {
    repo.text("url", spec.repo_url);
    if (has_repo(spec)) repo.text("ref", spec.repo_ref);
  });
}

namespace {

// The members that a stored request and a stored row have in common.
void append_stored(JsonObject& object, const TaskInfo& spec, const TaskSpec* whole) {
  if (has_repo(spec)) {
    append_repo(object.member("repo"), spec);
  } else {
    object.json("repo", "null");
  }
  object.text_unless_empty("agent", spec.agent);
  object.text_unless_empty("model", spec.model);
  object.text_unless_empty("callbackURL", spec.callback_url);
  append_options(object, spec, whole, spec.runner);
}

void append_shown(std::string& out, const TaskInfo& spec, const TaskSpec* whole, const TaskState& state,
                  std::int64_t created_ms) {
  write_object(out, [&](JsonObject& object) {
    object.text("id", spec.id);
    object.text("namespace", spec.namespace_name);
    object.text("title", whole != nullptr ? shown_title(*whole) : spec.title);
    append_repo(object.member("repo"), spec);
    write_object(object.member("task"), [&](JsonObject& work) {
      if (whole != nullptr) work.text("description", whole->description);
      append_source(work, spec);
    });
    object.text("agent", spec.agent);
    object.text("model", spec.model.empty() ? state.model : spec.model);
    object.text("callbackURL", spec.callback_url);
    append_options(object, spec, whole, state.runner.empty() ? spec.runner : state.runner);
    object.texts("labels", spec.labels);
    append_status(object.member("status"), state);
    object.text("activity", state.activity);
    object.text_unless_empty("sessionID", state.session_id);
    object.time("createdAt", created_ms);
    object.time("startedAt", state.started_ms);
    object.time("lastEventAt", state.last_event_ms);
    object.time("completionTime", state.completed_ms);
    object.number("firstSequence", state.first_sequence);
    object.number("lastSequence", state.last_sequence);
    append_usage(object.member("usage"), state.usage);
    object.number("errors", state.errors);
    object.number("toolCalls", state.tool_calls);
    object.json("capabilities", state.capabilities_json.empty() ? "null" : state.capabilities_json);
    object.text_unless_empty("confined", state.confined);
    append_commands(object.member("commands"), state.commands);
    append_approvals(object.member("approvals"), state.approvals);
  });
}

}  // namespace

std::string encode_task_spec(const TaskSpec& spec) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("id", spec.id);
    object.text("namespace", spec.namespace_name);
    object.text_unless_empty("title", spec.title);
    write_object(object.member("task"), [&](JsonObject& work) {
      work.text("description", spec.description);
      work.text_unless_empty("context", spec.context);
      append_source(work, spec);
    });
    append_stored(object, spec, &spec);
    if (!spec.mcp_servers_json.empty()) object.json("mcpServers", spec.mcp_servers_json);
    object.texts("labels", spec.labels);
  });
  return out;
}

std::string encode_task_info(const TaskInfo& info) {
  return object_text([&](JsonObject& object) {
    object.text("id", info.id);
    object.text("namespace", info.namespace_name);
    object.text("title", info.title);
    write_object(object.member("task"), [&](JsonObject& work) { append_source(work, info); });
    append_stored(object, info, nullptr);
    object.texts("labels", info.labels);
  });
}

void append_task(std::string& out, const Task& task) {
  append_shown(out, task.spec, &task.spec, task.state, task.created_ms);
}

void append_row(std::string& out, const TaskRow& row) {
  append_shown(out, row.spec, nullptr, row.state, row.created_ms);
}

}  // namespace shepherd
