#include "api/live_logs.h"

#include <boost/json/value.hpp>
#include <utility>
#include <vector>

#include "api/frames.h"
#include "api/limits.h"
#include "api/status_map.h"
#include "base/ids.h"

namespace shepherd {
namespace {

namespace json = boost::json;

std::optional<std::uint64_t> number_of(const json::value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) return static_cast<std::uint64_t>(value.get_int64());
  return std::nullopt;
}

}  // namespace

LiveLogs::Log::Log(LiveLogs& stream, std::string task, std::uint64_t after) : stream_(stream), task_(std::move(task)) {
  FeedOptions options;
  options.task = task_;
  options.after = after;
  options.types = stream.types_;
  options.deltas = stream.deltas_;
  options.encoder = &websocket_task_frames();
  options.executor = &stream.executor();
  feed_ = stream.core().parts.journal.open_feed(std::move(options), *this);
}

void LiveLogs::Log::ask() {
  waiting_ = true;
  feed_->next();
}

void LiveLogs::Log::pump() {
  if (pumping_) return;  // the running loop below continues
  pumping_ = true;
  while (!waits() && stream_.has_room()) ask();
  pumping_ = false;
}

void LiveLogs::Log::on_frames(FrameBatch&& batch) {
  waiting_ = false;
  if (left_) return;
  stream_.write(batch.spans);
  if (batch.end) return stream_.end_log(task_, nullptr);
  if (!stream_.taking_turns_) pump();
}

void LiveLogs::Log::on_feed_error(const Error& error) {
  waiting_ = false;
  if (!left_) stream_.end_log(task_, &error);
}

LiveLogs::LiveLogs(Core& core, TypeFilter types, bool deltas, StreamTrail trail)
    : LiveWebSocket(core, {.tasks = std::set<std::string>()}, std::move(trail)),
      types_(std::move(types)),
      deltas_(deltas) {}
LiveLogs::~LiveLogs() = default;

void LiveLogs::on_room() {
  taking_turns_ = true;
  for (std::size_t waiting = 0; waiting < logs_.size() && has_room();) {
    auto next = logs_.upper_bound(turn_);
    if (next == logs_.end()) next = logs_.begin();
    turn_ = next->first;
    if (next->second->waits()) {
      ++waiting;
    } else {
      waiting = 0;
      next->second->ask();  // may end the log
    }
  }
  taking_turns_ = false;
}

void LiveLogs::on_second(std::int64_t steady_ms) {
  std::vector<Log*> logs;  // one that ends in its tick is destroyed later
  logs.reserve(logs_.size());
  for (const auto& [task, log] : logs_) logs.push_back(log.get());
  for (Log* log : logs) log->tick(steady_ms);
}

void LiveLogs::on_stop() {
  while (!logs_.empty()) leave(logs_.begin()->first);
}

Result<void> LiveLogs::change(const json::object& message, bool subscribe) {
  if (subscribe) {
    const json::value* logs = message.if_contains("logs");
    if (logs == nullptr || !logs->is_object()) {
      return fail(
          bad_message("Say which `logs` to follow: an object of task ids and the last number you have of each."));
    }
    if (auto added = add(logs->get_object()); !added) return added;
  } else {
    const json::value* given = message.if_contains("tasks");
    if (given == nullptr) return fail(bad_message("Say which `tasks` to leave."));
    auto tasks = named_tasks(*given);
    if (!tasks) return fail(tasks.error());
    for (const std::string& task : *tasks) leave(task);
  }
  follows(followed());
  return {};
}

Result<void> LiveLogs::add(const json::object& logs) {
  std::map<std::string, std::uint64_t> added;
  std::set<std::string> all = *followed();
  for (const auto& [name, value] : logs) {
    std::string task(name);
    auto after = number_of(value);
    if (!is_task_id(task) || !after) {
      return fail(bad_message("`logs` must have a task id and a whole number, 0 or more, for each log."));
    }
    if (!principal().may(Right::view, task)) {
      return fail(ErrorCode::permission_denied, "forbidden", "This token may not see task " + task + ".");
    }
    added.emplace(task, *after);
    all.insert(std::move(task));
  }
  if (all.size() > kMaxFeedTasks) {
    return fail(bad_message("At most " + std::to_string(kMaxFeedTasks) + " tasks fit in one feed."));
  }
  for (const auto& [task, after] : added) {
    leave(task);
    logs_[task] = std::make_unique<Log>(*this, task, after);
  }
  return {};
}

void LiveLogs::leave(const std::string& task) {
  auto found = logs_.find(task);
  if (found == logs_.end()) return;
  found->second->leave();
  executor().post([log = std::move(found->second)]() mutable { log.reset(); });
  logs_.erase(found);
}

void LiveLogs::end_log(const std::string& task, const Error* error) {
  // The peer comes back for all of them.
  if (error != nullptr && error->code == ErrorCode::unavailable) return end(close_code(error->code), error->reason);
  leave(std::string(task));
  follows(followed());
  if (error == nullptr) return;
  if (error->reason == "task_deleted") return answer("task_deleted", "{}", "", task);
  refuse(*error, "", task);
}

std::optional<std::set<std::string>> LiveLogs::followed() const {
  std::set<std::string> tasks;
  for (const auto& [task, log] : logs_) tasks.insert(task);
  return tasks;
}

}  // namespace shepherd
