#include "views/session_tasks.h"

#include <algorithm>

#include "journal/limits.h"
#include "json/scan.h"
#include "store/limits.h"
#include "views/limits.h"

namespace shepherd {
namespace {

// Adds the events of one task, newest first, until there are `limit`.
Result<void> add_newest(std::vector<SessionEvent>& events, const EventStore& store, const std::string& task,
                        const std::string& session, std::size_t limit) {
  for (std::uint64_t before = 0; before != 1 && events.size() < limit;) {
    auto page = store.read_before(task, before, {kMaxPageEvents, kFeedReadBytes});
    if (!page) return fail(page.error());
    if (page->batches.empty()) break;
    for (auto batch = page->batches.rbegin(); batch != page->batches.rend() && events.size() < limit; ++batch) {
      for (std::size_t i = (*batch)->size(); i-- > 0 && events.size() < limit;) {
        if (before != 0 && (*batch)->first + i >= before) continue;
        if (string_value(find_member((*batch)->event(i), "sessionID")) == session) events.push_back({*batch, i});
      }
    }
    before = page->batches.front()->first;
  }
  return {};
}

}  // namespace

Result<std::vector<TaskRow>> tasks_of_session(const EventStore& store, const std::string& session) {
  TaskFilter filter;
  filter.session = session;
  filter.limit = kMaxStreamTasks;
  auto tasks = store.rows(filter);
  if (!tasks) return fail(tasks.error());
  if (session.empty() || tasks->empty()) {
    return fail(ErrorCode::not_found, "unknown_session", "no task has the session \"" + session + "\"");
  }
  return tasks;
}

Result<std::vector<SessionEvent>> events_of_session(const EventStore& store, const std::vector<TaskRow>& tasks,
                                                    const std::string& session, std::size_t limit) {
  std::vector<SessionEvent> events;
  for (const TaskRow& task : tasks) {
    auto added = add_newest(events, store, task.spec.id, session, limit);
    if (!added) return fail(added.error());
  }
  std::ranges::reverse(events);
  return events;
}

}  // namespace shepherd
