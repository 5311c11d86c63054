#include "client/logs_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "client/api_client.h"
#include "client/limits.h"
#include "client/live_message.h"
#include "json/write.h"

namespace shepherd {

LogsClient::LogsClient(Locate locate, std::string types, const Clock& clock, Random& random, net::ClientTls tls)
    : types_(std::move(types)), clock_(clock), link_(std::move(locate), clock, random, std::move(tls)) {}

Result<void> LogsClient::run(LogsObserver& observer) {
  observer_ = &observer;
  Result<bool> end = link_.run(*this);
  if (!end) return fail(std::move(end.error()));
  return {};
}

void LogsClient::follow(LogKey key, std::string task) {
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(!logs_.contains(task), "a task is followed once at a time");
    Log& log = logs_[std::move(task)];
    log.key = key;
    log.cursor.start_after(0);
  }
  link_.nudge();
}

void LogsClient::leave(LogKey key) {
  {
    MutexLock lock(mutex_);
    auto found = std::ranges::find_if(logs_, [&](const auto& each) { return each.second.key == key; });
    if (found == logs_.end()) return;
    if (found->second.asked != 0 && !found->second.over) left_.push_back(found->first);
    logs_.erase(found);
  }
  link_.nudge();
}

std::string LogsClient::link_target() {
  return "/api/v1/events" + query_text({{"each", "1"}, {"types", types_}});
}

void LogsClient::on_link_open(std::int64_t) {
  MutexLock lock(mutex_);
  left_.clear();
  for (auto& [task, log] : logs_) {
    log.asked = 0;
    log.open = false;
    log.not_before = 0;
  }
}

void LogsClient::on_link_lost(const std::string& why) {
  spdlog::debug("the feed of {} was lost: {}", types_, why);
  observer_->on_logs_lost();
}

std::vector<std::string> LogsClient::link_messages() {
  std::vector<std::string> messages;
  MutexLock lock(mutex_);
  if (std::vector<std::string> left = std::exchange(left_, {}); !left.empty()) {
    messages.push_back(object_text([&](JsonObject& object) {
      object.text("type", "unsubscribe");
      object.texts("tasks", left);
    }));
  }
  std::int64_t now_ms = clock_.steady_ms();
  for (bool alone : {false, true}) {
    while (true) {
      std::string message = question(alone, now_ms);
      if (message.empty()) break;
      messages.push_back(std::move(message));
    }
  }
  return messages;
}

// One question for the logs without one, or for one log that must be asked for alone; empty if there is none.
std::string LogsClient::question(bool alone, std::int64_t now_ms) {
  std::string logs;
  std::uint64_t number = questions_ + 1;
  std::size_t named = 0;
  for (auto& [task, log] : logs_) {
    if (log.asked != 0 || log.over || log.alone != alone || log.not_before > now_ms) continue;
    log.asked = number;
    logs += named == 0 ? "{" : ",";
    append_json_string(logs, task);
    logs += ':' + std::to_string(log.cursor.last().value_or(0));
    if (++named == (alone ? 1 : kMaxLogsAsked)) break;
  }
  if (named == 0) return {};
  questions_ = number;
  return object_text([&](JsonObject& object) {
    object.text("type", "subscribe");
    object.text("id", std::to_string(number));
    object.member("logs").append(logs).push_back('}');
  });
}

Result<LinkStep> LogsClient::on_link_message(std::string_view message) {
  std::string_view type = word_member(message, "type");
  std::string_view task = word_member(message, "taskID");
  std::string_view data = find_member(message, "data");
  if (task.empty()) {
    bool refused = type == "error";
    std::uint64_t number = count_value(word_member(message, "id")).value_or(0);
    if ((refused || type == "subscribed") && number != 0) take_answer(number, refused);
    return LinkStep::go_on;
  }
  if (type == "error") {
    take_refusal(task, data);
    return LinkStep::go_on;
  }
  LogKey key = 0;
  bool take = false;
  {
    MutexLock lock(mutex_);
    auto found = logs_.find(std::string(task));
    if (found == logs_.end() || !found->second.open) return LinkStep::go_on;  // left meanwhile
    Log& log = found->second;
    key = log.key;
    if (type == "task_event") {
      take = log.cursor.event(number_member(data, "sequence")) == LogCursor::Step::take;
    } else if (type == "gap") {
      log.cursor.gap(number_member(data, "from"), number_member(data, "to"));
    } else if (type == "position" || type == "caught_up") {
      log.cursor.reached(number_member(data, "sequence"));
      log.known = log.known || type == "caught_up";
    } else if (type == "task_complete" || type == "task_deleted") {
      log.over = true;
    }
  }
  if (take) observer_->on_log_event(key, data);
  if (type == "caught_up") observer_->on_log_live(key);
  if (type == "task_deleted") observer_->on_log_deleted(key);
  return LinkStep::go_on;
}

void LogsClient::take_answer(std::uint64_t question, bool refused) {
  MutexLock lock(mutex_);
  for (auto& [task, log] : logs_) {
    if (log.asked != question) continue;
    log.open = !refused;
    if (!refused) continue;
    log.asked = 0;
    log.alone = true;
    log.not_before = clock_.steady_ms() + kLogRetry.count();
  }
}

void LogsClient::take_refusal(std::string_view task, std::string_view data) {
  std::optional<LogKey> deleted;
  {
    MutexLock lock(mutex_);
    auto found = logs_.find(std::string(task));
    if (found == logs_.end() || !found->second.open) return;
    Log& log = found->second;
    if (log.known && word_member(data, "code") == "unknown_task") {
      log.over = true;
      deleted = log.key;
    } else {
      log.asked = 0;
      log.open = false;
      log.not_before = clock_.steady_ms() + kLogRetry.count();
    }
  }
  if (deleted) return observer_->on_log_deleted(*deleted);
  spdlog::debug("the log of {} cannot be read: {}", task, word_member(data, "code"));
}

}  // namespace shepherd
