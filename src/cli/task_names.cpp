#include "cli/task_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/limits.h"

namespace shepherd {
namespace {

constexpr std::size_t kShownNames = 5;  // of tasks with the same prefix

std::unexpected<Error> no_task(std::string_view typed) {
  return fail(ErrorCode::not_found, "unknown_task",
              fmt::format("there is no task {}; \"shepherd tasks\" lists them", typed));
}

Result<TaskView> newest_task(ApiClient& client) {
  Result<TaskList> page = client.tasks({{"limit", "1"}});
  if (!page) return fail(std::move(page.error()));
  if (page->tasks.empty()) {
    return fail(ErrorCode::not_found, "unknown_task",
                "there are no tasks yet; shepherd run \"fix the failing test\" makes one");
  }
  return std::move(page->tasks.front());
}

Result<TaskView> only_task_with(ApiClient& client, std::string_view prefix) {
  std::vector<TaskView> found;
  Result<TaskList> page = client.tasks({{"limit", std::to_string(kMaxTaskPage)}});
  while (true) {
    if (!page) return fail(std::move(page.error()));
    for (TaskView& task : page->tasks) {
      if (task.id.starts_with(prefix)) found.push_back(std::move(task));
    }
    if (page->next.empty() || found.size() > kShownNames) break;
    page = client.next_tasks(page->next);
  }
  if (found.empty()) return no_task(prefix);
  if (found.size() == 1) return std::move(found.front());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(found.size(), kShownNames); ++i) {
    names.push_back(fmt::format("{} ({})", found[i].id, found[i].label()));
  }
  return fail(ErrorCode::invalid_argument, "which_task",
              fmt::format("more than one task begins with {}: {}{}", prefix, fmt::join(names, ", "),
                          found.size() > kShownNames ? ", …" : ""));
}

}  // namespace

Result<TaskView> find_task(ApiClient& client, std::string_view typed) {
  if (typed == "-") return newest_task(client);
  Result<TaskView> exact = client.task(typed);
  if (exact || exact.error().code != ErrorCode::not_found) return exact;
  return only_task_with(client, typed);
}

}  // namespace shepherd
