// One run of one agent, as a runner makes it: driver, link, warden, commands; its log is kept in memory.
//
// Owns the thread of the run. The destructor kills what still runs and waits for that. Threads: caller.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "model/command.h"
#include "outbox/event_out.h"
#include "redact/redact.h"
#include "runner/agent_run.h"

namespace shepherd::harness {

// A log that is a list. Threads: any.
class LiveLog final : public EventOut {
 public:
  void add(std::string event_json) override EXCLUDES(mutex_);
  void add_end(std::string event_json) override { add(std::move(event_json)); }
  void add_delta(std::string) override {}

  using Pattern = std::function<bool(std::string_view event)>;
  // The first event that matches, waiting for it; nullopt when the time or the log is over.
  std::optional<std::string> find(const Pattern& pattern, std::chrono::milliseconds timeout) EXCLUDES(mutex_);
  void close() EXCLUDES(mutex_);  // no event follows
  std::vector<std::string> events() const EXCLUDES(mutex_);

 private:
  SystemClock clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> events_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

class LiveRun {
 public:
  // invalid_argument if the redaction rules do not compile, which they do.
  static Result<std::unique_ptr<LiveRun>> start(TaskOrder order, AgentSettings settings);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  LiveLog& log() { return log_; }
  bool can(CommandKind kind) const { return run_->can(kind); }
  void command(Command command) { run_->command(command); }
  // Its outcome; nullopt if it has not ended in time.
  std::optional<AgentOutcome> wait(std::chrono::milliseconds timeout) EXCLUDES(mutex_);

 private:
  LiveRun(TaskOrder order, Redactor redactor);

  SystemClock clock_;
  LiveLog log_;
  const TaskOrder order_;
  const Redactor redactor_;
  TaskEvents events_;
  std::unique_ptr<AgentRun> run_;
  Mutex mutex_;
  CondVar ended_;
  std::optional<AgentOutcome> outcome_ GUARDED_BY(mutex_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd::harness
