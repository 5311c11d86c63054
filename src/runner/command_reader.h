// The commands of all tasks of this process: one connection to the server's internal port and one thread that reads it.
// It survives restarts of the server.
//
// Other threads deliver what was read, one task's commands in order. There is one more such thread whenever a command
// finds all of them busy, so a step that does not return from a command delays only its own task.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "client/logs_client.h"
#include "model/command.h"
#include "runner/command_log.h"

namespace shepherd {

// Called on a thread of the reader, one call at a time. `withdraw`: a delivered command has expired and must no longer
// be carried out. `deleted`: the server no longer has the task; nothing follows.
struct CommandTaker {
  std::function<void(const Command&)> take;
  std::function<void(const std::string& id)> withdraw;
  std::function<void()> deleted;
};

// Threads: any. All follows have ended before it is destroyed.
class CommandReader final : private LogsObserver {
 public:
  // Connects when the first task is followed. `random` and `clock` must outlive it.
  CommandReader(Locate locate, net::ClientTls tls, const Clock& clock, Random& random);
  ~CommandReader() override;
  CommandReader(const CommandReader&) = delete;
  CommandReader& operator=(const CommandReader&) = delete;

  // Delivers the task's commands, from its log's beginning on, until leave(). A task is followed once at a time.
  LogKey follow(const std::string& task, CommandTaker taker) EXCLUDES(mutex_);
  // Waits for the active call to the taker; none follows.
  void leave(LogKey log) EXCLUDES(mutex_);

 private:
  struct Followed {
    CommandTaker taker;
    CommandLog log;
    bool delivering = false;  // a thread has it, or it is among `ready_`
  };
  using FollowedPtr = std::shared_ptr<Followed>;

  // On the thread that reads.
  void read() EXCLUDES(mutex_);
  bool pause() EXCLUDES(mutex_);  // false when stopping
  void on_log_event(LogKey log, std::string_view event) override EXCLUDES(mutex_);
  void on_log_live(LogKey log) override EXCLUDES(mutex_);
  void on_log_deleted(LogKey log) override EXCLUDES(mutex_);
  void on_logs_lost() override EXCLUDES(mutex_);
  // Lets the task's log change, and a thread deliver what is due then.
  void change(LogKey log, const std::function<void(CommandLog&)>& act) EXCLUDES(mutex_);

  // On a thread that delivers.
  void deliver() EXCLUDES(mutex_);
  FollowedPtr next_ready() EXCLUDES(mutex_);
  std::optional<CommandNotice> next_notice(Followed& followed) EXCLUDES(mutex_);
  static void tell(const CommandTaker& taker, const CommandNotice& notice);

  const Clock& clock_;
  LogsClient client_;
  Mutex mutex_;
  CondVar changed_;
  LogKey keys_ GUARDED_BY(mutex_) = 0;
  std::map<LogKey, FollowedPtr> followed_ GUARDED_BY(mutex_);
  std::deque<FollowedPtr> ready_ GUARDED_BY(mutex_);  // something is due, and no thread has it
  std::size_t idle_ GUARDED_BY(mutex_) = 0;           // threads that wait for `ready_`
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);  // the first one reads
};

// A task's commands for its lifetime. Threads: caller.
class FollowedCommands {
 public:
  FollowedCommands(CommandReader& reader, const std::string& task, CommandTaker taker)
      : reader_(reader), log_(reader.follow(task, std::move(taker))) {}
  ~FollowedCommands() { reader_.leave(log_); }
  FollowedCommands(const FollowedCommands&) = delete;
  FollowedCommands& operator=(const FollowedCommands&) = delete;

 private:
  CommandReader& reader_;
  const LogKey log_;
};

}  // namespace shepherd
