#include "runner/command_reader.h"

#include <utility>

#include "base/assert.h"
#include "base/log.h"
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

}  // namespace

CommandReader::CommandReader(Locate locate, net::ClientTls tls, const Clock& clock, Random& random)
    : clock_(clock),
      client_(internal_port(std::move(locate)), "command,command_result", clock, random, std::move(tls)) {}

CommandReader::~CommandReader() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(followed_.empty(), "no task is followed any more");
    stopping_ = true;
    changed_.notify_all();
    threads = std::move(threads_);
  }
  client_.stop();
  for (std::thread& thread : threads) thread.join();
}

LogKey CommandReader::follow(const std::string& task, CommandTaker taker) {
  auto followed = std::make_shared<Followed>();
  followed->taker = std::move(taker);
  LogKey log = 0;
  {
    MutexLock lock(mutex_);
    log = ++keys_;
    followed_[log] = std::move(followed);
    if (threads_.empty()) threads_.emplace_back([this] { read(); });
  }
  client_.follow(log, task);
  return log;
}

void CommandReader::leave(LogKey log) {
  client_.leave(log);
  MutexLock lock(mutex_);
  auto found = followed_.find(log);
  SHEPHERD_ASSERT(found != followed_.end(), "a task is left once, after it was followed");
  FollowedPtr followed = std::move(found->second);
  followed_.erase(found);
  followed->log.drop_all();
  if (std::erase(ready_, followed) > 0) followed->delivering = false;
  while (followed->delivering) changed_.wait(mutex_);
}

void CommandReader::read() {
  for (;;) {
    Result<void> end = client_.run(*this);
    if (end) return;  // stopped
    on_logs_lost();
    // A server that is down may return, and one that refuses us may accept us later: after an operator has repaired a
    // token, the agents should not have to start again.
    spdlog::debug("commands cannot be read: {}", end.error().message);
    if (!pause()) return;
  }
}

bool CommandReader::pause() {
  std::int64_t until_ms = clock_.steady_ms() + kClaimPause.count();
  MutexLock lock(mutex_);
  while (!stopping_) {
    std::int64_t left_ms = until_ms - clock_.steady_ms();
    if (left_ms <= 0) return true;
    changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return false;
}

void CommandReader::on_log_event(LogKey log, std::string_view event) {
  change(log, [&](CommandLog& commands) { commands.take_event(event); });
}

void CommandReader::on_log_live(LogKey log) {
  change(log, [](CommandLog& commands) { commands.go_live(); });
}

void CommandReader::on_log_deleted(LogKey log) {
  change(log, [](CommandLog& commands) { commands.take_deletion(); });
}

void CommandReader::on_logs_lost() {
  MutexLock lock(mutex_);
  for (const auto& [log, followed] : followed_) followed->log.lose();
}

void CommandReader::change(LogKey log, const std::function<void(CommandLog&)>& act) {
  MutexLock lock(mutex_);
  auto found = followed_.find(log);
  if (found == followed_.end()) return;  // left meanwhile
  Followed& followed = *found->second;
  act(followed.log);
  if (followed.log.empty() || followed.delivering) return;
  followed.delivering = true;
  ready_.push_back(found->second);
  if (ready_.size() > idle_) {
    threads_.emplace_back([this] { deliver(); });
  } else {
    changed_.notify_all();
  }
}

void CommandReader::deliver() {
  while (FollowedPtr followed = next_ready()) {
    while (std::optional<CommandNotice> notice = next_notice(*followed)) tell(followed->taker, *notice);
  }
}

// Returns null when stopping.
CommandReader::FollowedPtr CommandReader::next_ready() {
  MutexLock lock(mutex_);
  ++idle_;
  while (!stopping_ && ready_.empty()) changed_.wait(mutex_);
  --idle_;
  if (stopping_) return nullptr;
  FollowedPtr followed = std::move(ready_.front());
  ready_.pop_front();
  return followed;
}

std::optional<CommandNotice> CommandReader::next_notice(Followed& followed) {
  MutexLock lock(mutex_);
  if (!followed.log.empty()) return followed.log.next();
  followed.delivering = false;
  changed_.notify_all();
  return std::nullopt;
}

void CommandReader::tell(const CommandTaker& taker, const CommandNotice& notice) {
  switch (notice.what) {
    case CommandNotice::What::take:
      return taker.take(notice.command);
    case CommandNotice::What::withdraw:
      return taker.withdraw(notice.command.id);
    case CommandNotice::What::deleted:
      return taker.deleted();
  }
}

}  // namespace shepherd
