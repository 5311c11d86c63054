// The commands for one task, as they appear in its log: a filtered feed on the server's internal port.
//
// Follows over restarts of the server. A command that was settled before the feed caught up (another runner's, or one
// that nobody ran) is passed over; every other is handed out once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "client/live_client.h"
#include "model/command.h"

namespace shepherd {

// Called on the feed's own thread. `withdraw`: a command that was handed out has expired; nobody may act on it any
// more. `deleted`: the server has no such task any more; the feed has ended.
struct CommandTaker {
  std::function<void(const Command&)> take;
  std::function<void(const std::string& id)> withdraw;
  std::function<void()> deleted;
};

// Threads: any; the destructor waits for its thread.
class CommandFollower {
 public:
  CommandFollower(Locate locate, std::string task, CommandTaker taker, const Clock& clock, Random& random,
                  net::ClientTls tls = {});
  ~CommandFollower();
  CommandFollower(const CommandFollower&) = delete;
  CommandFollower& operator=(const CommandFollower&) = delete;

 private:
  class Reader;

  void follow() EXCLUDES(mutex_);
  bool pause() EXCLUDES(mutex_);  // false: stopping

  const std::string task_;
  const Clock& clock_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<LiveClient> live_;
  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
