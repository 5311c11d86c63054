// The commands for one task, as they appear in its log: a filtered feed on the server's internal port.
//
// Follows over restarts of the server. It skips a command that was settled before the feed caught up (another runner's,
// or one that expired) and hands out every other one once.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "client/live_client.h"
#include "model/command.h"

namespace shepherd {

// Called on the feed's own thread. `withdraw`: a command that was handed out has expired; the agent must not get it any
// more. `deleted`: the server has no such task any more; the feed has ended.
struct CommandTaker {
  std::function<void(const Command&)> take;
  std::function<void(const std::string& id)> withdraw;
  std::function<void()> deleted;
};

// Threads: any; the destructor waits for its thread.
class CommandFollower final : private LiveObserver {
 public:
  CommandFollower(Locate locate, std::string task, CommandTaker taker, const Clock& clock, Random& random,
                  net::ClientTls tls = {});
  ~CommandFollower() override;
  CommandFollower(const CommandFollower&) = delete;
  CommandFollower& operator=(const CommandFollower&) = delete;

 private:
  // On its thread.
  void follow() EXCLUDES(mutex_);
  bool pause() EXCLUDES(mutex_);  // false: stopping
  bool on_event(std::string_view task, std::uint64_t sequence, std::string_view event) override;
  void on_gap(std::string_view, std::uint64_t, std::uint64_t) override {}
  void on_state(const LiveChange& change) override;
  void on_complete(std::string_view, std::string_view) override {}
  bool report_deleted(const Error& error);

  const std::string task_;
  const Clock& clock_;
  LiveClient client_;

  // The thread's own.
  CommandTaker taker_;
  bool live_ = false;
  bool known_ = false;            // was live once
  std::vector<Command> waiting_;  // not known to be settled, until the feed has caught up
  std::set<std::string> seen_;    // a task has few

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
