#include "chat/active_tasks.h"

#include "base/limits.h"
#include "store/task_match.h"

namespace shepherd {

Result<void> each_active_task(const EventStore& store, std::string_view agent,
                              const std::function<void(const TaskRow&)>& take) {
  TaskFilter filter;
  filter.active = true;
  filter.agent = agent;
  filter.limit = kMaxTaskPage;
  for (;;) {
    auto rows = store.rows(filter);
    if (!rows) return fail(rows.error());
    for (const TaskRow& row : *rows) take(row);
    if (rows->size() < filter.limit) return {};
    filter.before = place_after(rows->back());
  }
}

}  // namespace shepherd
