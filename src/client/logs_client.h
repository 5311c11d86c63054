// Follows some events of many logs over one WebSocket, each log from its own number (`GET /api/v1/events?each=1`).
// Logs come and go while it runs. It resumes each at its number when the server restarts or the network fails.
//
// A log that the server does not have is asked for again, because it may be behind a wrong address; one that it had is
// deleted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "client/live_link.h"
#include "client/log_cursor.h"

namespace shepherd {

// Names a followed log. A task that is left and followed again gets another one.
using LogKey = std::uint64_t;

// Called on the thread that runs the client. After leave() a call that has begun may still finish.
class LogsObserver {
 public:
  virtual ~LogsObserver() = default;
  virtual void on_log_event(LogKey log, std::string_view event) = 0;
  virtual void on_log_live(LogKey log) = 0;     // everything before is known; further events are new
  virtual void on_log_deleted(LogKey log) = 0;  // the server no longer has it
  virtual void on_logs_lost() = 0;              // the connection is gone: no log is live
};

// Threads: run() from one; the others from any.
class LogsClient final : private LiveLinkUser {
 public:
  // `types`: comma-separated, not empty.
  LogsClient(Locate locate, std::string types, const Clock& clock, Random& random, net::ClientTls tls = {});

  // Blocks until stop(), or with the errors of LiveLink; it may be called again after one.
  Result<void> run(LogsObserver& observer) EXCLUDES(mutex_);
  void stop() { link_.stop(); }

  // From the log's beginning. A task is followed once at a time.
  void follow(LogKey key, std::string task) EXCLUDES(mutex_);
  void leave(LogKey key) EXCLUDES(mutex_);

 private:
  struct Log {
    LogKey key = 0;
    LogCursor cursor{true};
    bool known = false;           // the server has had it
    bool alone = false;           // a question with others was refused
    bool over = false;            // nothing follows
    std::uint64_t asked = 0;      // the open question; 0 for none
    bool open = false;            // the question is answered, so messages about this task are this log's
    std::int64_t not_before = 0;  // steady; when to ask again
  };

  std::string link_target() override;
  void on_link_open(std::int64_t down_ms) override EXCLUDES(mutex_);
  void on_link_lost(const std::string& why) override;
  Result<LinkStep> on_link_message(std::string_view message) override EXCLUDES(mutex_);
  std::vector<std::string> link_messages() override EXCLUDES(mutex_);

  std::string question(bool alone, std::int64_t now_ms) REQUIRES(mutex_);
  void take_answer(std::uint64_t question, bool refused) EXCLUDES(mutex_);
  void take_refusal(std::string_view task, std::string_view data) EXCLUDES(mutex_);

  const std::string types_;
  const Clock& clock_;
  LiveLink link_;
  LogsObserver* observer_ = nullptr;  // during run()

  Mutex mutex_;
  std::map<std::string, Log> logs_ GUARDED_BY(mutex_);
  std::vector<std::string> left_ GUARDED_BY(mutex_);  // the server still sends them
  std::uint64_t questions_ GUARDED_BY(mutex_) = 0;
};

}  // namespace shepherd
