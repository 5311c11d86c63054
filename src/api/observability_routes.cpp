// Agents and sessions under the names of earlier dashboards, which call a task an agent. A thin layer: /tasks and its
// events have all of this, too.
#include <algorithm>
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/query.h"
#include "base/limits.h"
#include "json/write.h"
#include "model/wire_json.h"
#include "store/task_match.h"
#include "views/session_tasks.h"

namespace shepherd {
namespace {

void append_metrics(std::string& out, const Usage& usage) {
  write_object(out, [&](JsonObject& object) {
    object.number("cost_usd", usage.cost_usd);
    object.number("input_tokens", usage.input_tokens);
    object.number("output_tokens", usage.output_tokens);
    object.number("cache_tokens", usage.cache_read_tokens + usage.cache_write_tokens);
    object.number("api_calls", usage.api_calls);
    object.number("tool_uses", usage.tool_uses);
  });
}

void append_agent(std::string& out, const TaskRow& task) {
  const auto& [spec, state, created_ms] = task;
  write_object(out, [&](JsonObject& object) {
    object.text("agent_id", spec.id);
    object.text("title", spec.title);
    object.text("agent", spec.agent);
    object.text("model", spec.model.empty() ? state.model : spec.model);
    object.text("session_id", state.session_id);
    object.text("workflow_id", spec.workflow_id);
    object.text("status", name(state.state));
    object.text("activity", state.activity);
    object.time("created_at", created_ms);
    object.time("started_at", state.started_ms);
    object.time("last_event_at", state.last_event_ms);
    object.time("completed_at", state.completed_ms);
    object.number("errors", state.errors);
    append_metrics(object.member("metrics"), state.usage);
  });
}

void append_agents(std::string& out, const std::vector<TaskRow>& tasks) {
  out += '[';
  for (const TaskRow& task : tasks) {
    if (&task != &tasks.front()) out += ',';
    append_agent(out, task);
  }
  out += ']';
}

// The event with its task's id as `agent_id`.
std::string event_of_agent(const SessionEvent& event) {
  std::string out = R"({"agent_id":)";
  append_json_string(out, event.batch->task);
  out += ',';
  out += event.batch->event(event.index).substr(1);
  return out;
}

void send_session(Call call, std::size_t limit) {
  const EventStore& store = call.parts().journal.store();
  const std::string& session = call.id();
  auto tasks = tasks_of_session(store, session);
  if (!tasks) return call.fail(tasks.error());
  auto events = events_of_session(store, *tasks, session, limit);
  if (!events) return call.fail(events.error());
  std::int64_t started_ms = 0;
  std::int64_t completed_ms = 0;
  bool active = false;
  Usage total;
  for (const TaskRow& task : *tasks) {
    const TaskState& state = task.state;
    if (state.started_ms != 0 && (started_ms == 0 || state.started_ms < started_ms)) started_ms = state.started_ms;
    completed_ms = std::max(completed_ms, state.completed_ms);
    active = active || !is_terminal(state.state);
    if (auto used = state.usage_by_session.find(session); used != state.usage_by_session.end()) {
      total += used->second;
    }
  }
  std::string body = object_text([&](JsonObject& object) {
    object.text("session_id", session);
    object.text("agent_id", tasks->front().spec.id);
    object.text("workflow_id", tasks->front().spec.workflow_id);
    object.text("status", name(tasks->front().state.state));
    object.time("started_at", started_ms);
    object.time("completed_at", active ? 0 : completed_ms);
    append_metrics(object.member("metrics"), total);
    append_agents(object.member("agents"), *tasks);
    std::string& list = object.member("events");
    list += '[';
    for (const SessionEvent& event : *events) {
      if (&event != &events->front()) list += ',';
      list += event_of_agent(event);
    }
    list += ']';
  });
  call.send_json(200, std::move(body));
}

}  // namespace

void list_agents(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  TaskFilter filter;
  auto active = query->text("active") ? query->flag("active") : Result<bool>(true);
  if (!active) return call.fail(active.error());
  filter.active = *active;
  if (auto state = query->text("status")) {
    filter.active = false;
    filter.state = state_named(*state);
    if (!filter.state) return call.fail(bad_parameter("status", "There is no status of that name."));
  }
  filter.agent = query->text("agent").value_or("");
  filter.workflow = query->text("workflow_id").value_or("");
  filter.session = query->text("session_id").value_or("");
  filter.before = query->text("before").value_or("");
  auto limit = query->limit(kTaskPage, kMaxTaskPage);
  if (!limit) return call.fail(limit.error());
  filter.limit = *limit + 1;  // one more shows whether there is a next page
  Call::on_worker(std::move(call), [filter = std::move(filter)](Call on_worker) {
    auto tasks = on_worker.parts().journal.store().rows(filter);
    if (!tasks) return on_worker.fail(tasks.error());
    bool more = tasks->size() == filter.limit;
    if (more) tasks->pop_back();
    std::string body = R"({"agents":)";
    append_agents(body, *tasks);
    body += R"(,"next":)";
    if (more) {
      append_json_string(body, place_after(tasks->back()));
    } else {
      body += "null";
    }
    body += '}';
    on_worker.send_json(200, std::move(body));
  });
}

void get_session(Call call) {
  // The gate checked the session as a task id, but a session may belong to any task.
  if (!call.principal()->may(Right::view, "")) {
    return call.fail({ErrorCode::permission_denied, "forbidden", "This token may not see sessions.", {}});
  }
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  auto limit = query->limit(kPageEvents, kMaxSessionEvents);
  if (!limit) return call.fail(limit.error());
  Call::on_lane(&Lanes::scans, std::move(call),
                [limit = *limit](Call on_lane) { send_session(std::move(on_lane), limit); });
}

}  // namespace shepherd
