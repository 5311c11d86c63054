// Follows the commands in one task's log: a filtered feed on the server's internal port.
//
// It survives restarts of the server. Commands that were settled before the feed caught up (another runner's, or
// without a runner) are skipped; every other command is delivered once.
#pragma once

#include <cstdint>
#include <deque>
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

// Called on the feed's own thread. `withdraw`: a delivered command has expired and must no longer be carried out.
// `deleted`: the server no longer has the task, and the feed has ended.
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
  bool pause() EXCLUDES(mutex_);  // false when stopping
  bool on_event(std::string_view task, std::uint64_t sequence, std::string_view event) override;
  void on_gap(std::string_view, std::uint64_t, std::uint64_t) override {}
  void on_state(const LiveChange& change) override;
  void on_complete(std::string_view, std::string_view) override {}
  bool report_deleted(const Error& error);
  bool is_new(const std::string& id);

  const std::string task_;
  const Clock& clock_;
  LiveClient client_;

  // Owned by the thread.
  CommandTaker taker_;
  bool live_ = false;
  bool known_ = false;            // the feed was live once
  std::vector<Command> waiting_;  // perhaps settled; decided when the feed has caught up
  // The newest kSeenCommands ids: an id is one command, however often the log has it.
  std::set<std::string> seen_;
  std::deque<std::string> seen_order_;

  Mutex mutex_;
  CondVar wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace shepherd
