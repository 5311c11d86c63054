#include "runner/command_follower.h"

#include <set>
#include <utility>
#include <vector>

#include "base/log.h"
#include "json/scan.h"
#include "runner/limits.h"

namespace shepherd {

// Threads: the feed's.
class CommandFollower::Reader final : public LiveObserver {
 public:
  explicit Reader(CommandTaker taker) : taker_(std::move(taker)) {}

  bool on_event(std::string_view, std::uint64_t, std::string_view event) override {
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
    if (!seen_.insert(command->id).second) return true;
    if (live_) {
      taker_.take(*command);
    } else {
      waiting_.push_back(*std::move(command));
    }
    return true;
  }

  void on_gap(std::string_view, std::uint64_t, std::uint64_t) override {}

  void on_state(const LiveChange& change) override {
    live_ = change.state == LiveState::live;
    known_ = known_ || live_;
    if (!live_) return;
    for (const Command& command : std::exchange(waiting_, {})) taker_.take(command);
  }

  void on_complete(std::string_view, std::string_view) override {}

  // A task that existed and is gone was deleted. A task that never existed may be behind a wrong address.
  bool tell_deleted(const Error& error) {
    if (!known_ || error.code != ErrorCode::not_found) return false;
    taker_.deleted();
    return true;
  }

 private:
  CommandTaker taker_;
  bool live_ = false;
  bool known_ = false;            // the feed was live once
  std::vector<Command> waiting_;  // perhaps settled; decided when the feed has caught up
  std::set<std::string> seen_;    // a task has few commands
};

CommandFollower::CommandFollower(Locate locate, std::string task, CommandTaker taker, const Clock& clock,
                                 Random& random, net::ClientTls tls)
    : task_(std::move(task)), clock_(clock), reader_(std::make_unique<Reader>(std::move(taker))) {
  // A live client reads the public address, but ours must be the internal one.
  auto internal = [locate = std::move(locate)]() -> Result<Destination> {
    Result<Destination> found = locate();
    if (found) found->public_url = found->internal_url;
    return found;
  };
  LiveOptions options;
  options.task = task_;
  options.after = 0;
  options.types = "command,command_result";
  live_ = std::make_unique<LiveClient>(std::move(internal), std::move(options), clock, random, std::move(tls));
  thread_ = std::thread([this] { follow(); });
}

CommandFollower::~CommandFollower() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  live_->stop();
  thread_.join();
}

void CommandFollower::follow() {
  for (;;) {
    Result<bool> end = live_->run(*reader_);
    if (end) return;  // the task is complete, or the follower was stopped
    if (reader_->tell_deleted(end.error())) return;
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

}  // namespace shepherd
