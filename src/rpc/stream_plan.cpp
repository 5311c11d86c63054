#include "rpc/stream_plan.h"

#include <algorithm>
#include <map>

#include "base/ids.h"
#include "journal/cursor.h"
#include "rpc/event_frames.h"
#include "rpc/proto_time.h"
#include "views/limits.h"
#include "views/session_tasks.h"

namespace shepherd {
namespace {

using observability::v1::StreamEventsRequest;

Error bad_request(std::string message) {
  return {ErrorCode::invalid_argument, "bad_request", std::move(message), {}};
}

Result<TypeFilter> type_filter(const StreamEventsRequest& request) {
  TypeFilter filter;
  for (int type : request.event_types()) {
    if (type <= 0 || type >= static_cast<int>(kEventTypes)) {
      return fail(bad_request("event_types has " + std::to_string(type) + ", which this server does not know"));
    }
    filter.known |= mask_of(static_cast<EventType>(type));
  }
  return filter;
}

// Returns the number of the last event before `since_ms` in a log of numbers first..head. Times grow with numbers, so a
// few reads suffice for a log of any length. `read` returns the page after a number.
template <class Read>
Result<std::uint64_t> last_before(std::int64_t since_ms, const Read& read) {
  auto start = read(0);
  if (!start) return fail(start.error());
  std::uint64_t low = start->first == 0 ? 0 : start->first - 1;  // everything up to here is older, or deleted
  std::uint64_t high = start->head;                              // no event after this is known to be older
  while (low < high) {
    std::uint64_t middle = low + (high - low) / 2;
    auto page = read(middle);
    if (!page) return fail(page.error());
    if (page->batches.empty() || page->batches.front()->received_ms >= since_ms) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

constexpr ReadLimit kOneRun{1, 1};

Result<std::uint64_t> task_start(const EventStore& store, const std::string& task, std::int64_t after,
                                 std::int64_t since_ms) {
  auto heads = store.heads({task});
  if (!heads) return fail(heads.error());
  std::uint64_t head = (*heads)[task];
  auto start = static_cast<std::uint64_t>(after);
  if (start > head) {
    return fail(Error{ErrorCode::conflict,
                      "cursor_ahead",
                      "after has " + std::to_string(after) + " for " + task + ", whose log ends at " +
                          std::to_string(head) + "; start again from what you have stored",
                      {}});
  }
  if (since_ms == 0) return start;
  auto before = last_before(since_ms, [&](std::uint64_t number) { return store.read(task, number, kOneRun); });
  if (!before) return before;
  return std::max(start, *before);
}

Result<std::uint64_t> all_start(const EventStore& store, const StreamEventsRequest& request, std::int64_t since_ms) {
  auto heads = store.heads({""});
  if (!heads) return fail(heads.error());
  std::uint64_t head = (*heads)[""];
  if (!request.cursor().empty()) {
    auto position = decode_cursor(request.cursor());
    if (!position) return fail(position.error());
    if (*position > head) {
      return fail(ErrorCode::conflict, "cursor_ahead", "the cursor is not of this server's store; start without one");
    }
    return *position;
  }
  if (since_ms == 0) return head;
  return last_before(since_ms, [&](std::uint64_t number) { return store.read_all(number, kOneRun); });
}

// Returns the named tasks and the number after which each starts.
Result<std::map<std::string, std::int64_t>> named_tasks(const EventStore& store, const StreamEventsRequest& request) {
  std::map<std::string, std::int64_t> tasks;
  for (const std::string& id : request.agent_ids()) tasks.emplace(id, 0);
  for (const auto& [id, after] : request.after()) {
    if (after < 0) return fail(bad_request("after has " + std::to_string(after) + " for " + id + "; 0 is the start"));
    if (!request.agent_ids().empty() && !tasks.contains(id)) {
      return fail(bad_request("after names " + id + ", which is not among agent_ids"));
    }
    tasks[id] = after;
  }
  if (!tasks.empty()) return tasks;
  for (const std::string& session : request.session_ids()) {
    auto found = tasks_of_session(store, session);
    if (!found) return fail(found.error());
    for (const TaskRow& task : *found) tasks.emplace(task.spec.id, 0);
  }
  return tasks;
}

}  // namespace

Result<StreamPlan> plan_stream(const EventStore& store, const StreamEventsRequest& request) {
  StreamPlan plan;
  plan.until_caught_up = request.until_caught_up();
  plan.sessions.insert(request.session_ids().begin(), request.session_ids().end());
  auto types = type_filter(request);
  if (!types) return fail(types.error());
  auto tasks = named_tasks(store, request);
  if (!tasks) return fail(tasks.error());
  if (tasks->size() > kMaxStreamTasks) {
    return fail(bad_request("at most " + std::to_string(kMaxStreamTasks) +
                            " tasks can be named; without agent_ids the stream has all of them"));
  }
  if (!tasks->empty() && !request.cursor().empty()) {
    return fail(bad_request("cursor is for streams over all tasks; with agent_ids send `after`"));
  }
  std::int64_t since_ms = request.has_since() ? time_ms(request.since()) : 0;
  if (tasks->empty()) {
    auto start = all_start(store, request, since_ms);
    if (!start) return fail(start.error());
    plan.feeds.push_back({.after = *start, .types = *types, .encoder = &rpc_all_frames()});
    return plan;
  }
  plan.ends = true;
  for (const auto& [id, after] : *tasks) {
    if (!is_task_id(id)) return fail(bad_request("\"" + id + "\" is not a task's id"));
    if (auto task = store.row(id); !task) return fail(task.error());
    auto start = task_start(store, id, after, since_ms);
    if (!start) return fail(start.error());
    plan.feeds.push_back({.task = id, .after = *start, .types = *types, .encoder = &rpc_task_frames()});
  }
  return plan;
}

}  // namespace shepherd
