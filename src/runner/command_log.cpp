#include "runner/command_log.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "json/scan.h"
#include "runner/limits.h"

namespace shepherd {

void CommandLog::take_event(std::string_view event) {
  std::string_view data = find_member(event, "data");
  if (string_value(find_member(event, "type")).value_or("") == "command_result") return take_result(data);
  Result<Command> command = decode_command(data);
  if (!command || command->id.empty()) {
    log_warn("a command event could not be read: {}", command ? "it has no id" : command.error().message);
    return;
  }
  if (!is_new(command->id)) return;
  if (live_) {
    due_.push_back({CommandNotice::What::take, *std::move(command)});
  } else {
    waiting_.push_back(*std::move(command));
  }
}

void CommandLog::take_result(std::string_view data) {
  std::string id = string_value(find_member(data, "id")).value_or("");
  bool waited = std::erase_if(waiting_, [&](const Command& command) { return command.id == id; }) > 0;
  bool expired = string_value(find_member(data, "state")) == name(CommandState::expired);
  if (!expired || waited || !seen_.contains(id)) return;
  // Not delivered yet, so it never has to be.
  if (std::erase_if(due_, [&](const CommandNotice& notice) { return notice.command.id == id; }) > 0) return;
  Command gone;
  gone.id = std::move(id);
  due_.push_back({CommandNotice::What::withdraw, std::move(gone)});
}

bool CommandLog::is_new(const std::string& id) {
  if (!seen_.insert(id).second) return false;
  seen_order_.push_back(id);
  if (seen_order_.size() > kSeenCommands) {
    seen_.erase(seen_order_.front());
    seen_order_.pop_front();
  }
  return true;
}

void CommandLog::go_live() {
  live_ = true;
  for (Command& command : std::exchange(waiting_, {})) {
    due_.push_back({CommandNotice::What::take, std::move(command)});
  }
}

void CommandLog::take_deletion() {
  due_.push_back({CommandNotice::What::deleted, {}});
}

CommandNotice CommandLog::next() {
  SHEPHERD_ASSERT(!due_.empty(), "something is due");
  CommandNotice notice = std::move(due_.front());
  due_.pop_front();
  return notice;
}

}  // namespace shepherd
