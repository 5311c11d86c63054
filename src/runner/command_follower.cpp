#include "runner/command_follower.h"

#include <utility>

#include "base/log.h"
#include "json/scan.h"
#include "runner/limits.h"

namespace shepherd {

namespace {

// A live client reads the public address; the commands are on the internal one.
Locate internal_port(Locate locate) {
  return [locate = std::move(locate)]() -> Result<Destination> {
    Result<Destination> found = locate();
    if (found) found->public_url = found->internal_url;
    return found;
  };
}

LiveOptions commands_of(const std::string& task) {
  LiveOptions options;
  options.task = task;
  options.after = 0;
  options.types = "command,command_result";
  return options;
}

}  // namespace

CommandFollower::CommandFollower(Locate locate, std::string task, CommandTaker taker, const Clock& clock,
                                 Random& random, net::ClientTls tls)
    : task_(std::move(task)),
      clock_(clock),
      client_(internal_port(std::move(locate)), commands_of(task_), clock, random, std::move(tls)),
      taker_(std::move(taker)) {
  thread_ = std::thread([this] { follow(); });
}

CommandFollower::~CommandFollower() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  client_.stop();
  thread_.join();
}

void CommandFollower::follow() {
  for (;;) {
    Result<bool> end = client_.run(*this);
    if (end) return;  // the task is complete, or the follower was stopped
    if (report_deleted(end.error())) return;
    // A server that is down may return, and one that refuses us may accept us later: after an operator has repaired a
    // token, the agent should not have to start again.
    spdlog::debug("commands of {} cannot be read: {}", task_, end.error().message);
    if (!pause()) return;
  }
}

bool CommandFollower::pause() {
  std::int64_t until_ms = clock_.steady_ms() + kClaimPause.count();
  MutexLock lock(mutex_);
  while (!stopping_) {
    std::int64_t left_ms = until_ms - clock_.steady_ms();
    if (left_ms <= 0) return true;
    wake_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return false;
}

bool CommandFollower::on_event(std::string_view, std::uint64_t, std::string_view event) {
  std::string_view data = find_member(event, "data");
  if (string_value(find_member(event, "type")).value_or("") == "command_result") {
    std::string id = string_value(find_member(data, "id")).value_or("");
    bool waited = std::erase_if(waiting_, [&](const Command& command) { return command.id == id; }) > 0;
    bool expired = string_value(find_member(data, "state")) == name(CommandState::expired);
    if (expired && !waited && seen_.contains(id)) taker_.withdraw(id);
    return true;
  }
  Result<Command> command = decode_command(data);
  if (!command || command->id.empty()) {
    log_warn("a command event could not be read: {}", command ? "it has no id" : command.error().message);
    return true;
  }
  if (!is_new(command->id)) return true;
  if (live_) {
    taker_.take(*command);
  } else {
    waiting_.push_back(*std::move(command));
  }
  return true;
}

bool CommandFollower::is_new(const std::string& id) {
  if (!seen_.insert(id).second) return false;
  seen_order_.push_back(id);
  if (seen_order_.size() > kSeenCommands) {
    seen_.erase(seen_order_.front());
    seen_order_.pop_front();
  }
  return true;
}

void CommandFollower::on_state(const LiveChange& change) {
  live_ = change.state == LiveState::live;
  known_ = known_ || live_;
  if (!live_) return;
  for (const Command& command : std::exchange(waiting_, {})) taker_.take(command);
}

// A task that existed and is gone was deleted. A task that never existed may be behind a wrong address.
bool CommandFollower::report_deleted(const Error& error) {
  if (!known_ || error.code != ErrorCode::not_found) return false;
  taker_.deleted();
  return true;
}

}  // namespace shepherd
