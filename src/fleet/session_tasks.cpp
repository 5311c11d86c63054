#include "fleet/session_tasks.h"

#include "base/limits.h"

namespace shepherd {

Result<std::vector<Task>> tasks_of_session(const EventStore& store, const std::string& session) {
  TaskFilter filter;
  filter.session = session;
  filter.limit = kMaxStreamTasks;
  auto tasks = store.tasks(filter);
  if (!tasks) return fail(tasks.error());
  if (session.empty() || tasks->empty()) {
    return fail(ErrorCode::not_found, "unknown_session", "no task has the session \"" + session + "\"");
  }
  return tasks;
}

}  // namespace shepherd
