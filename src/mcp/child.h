// One program that is a child of this process and lives on the event loop: its streams, its end.
//
// Its processes belong to a warden (process/launch_warden.h), which ends all of them when this object, or this process,
// is gone. Starting takes a thread for a moment, because the warden must be waited for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/timers.h"
#include "process/agent_end.h"
#include "process/launch_warden.h"

namespace shepherd {

// Called on the loop, never inside a call of the child.
class McpChildObserver {
 public:
  virtual ~McpChildObserver() = default;
  virtual void on_child_output(std::string_view bytes) = 0;
  virtual void on_child_errors(std::string_view bytes) = 0;
  virtual void on_child_end(
      std::string how) = 0;  // the last call: no process is left. "exit 1", or why it did not start
};

// All of these outlive the child.
struct McpChildParts {
  net::EventLoop& loop;
  net::Timers& timers;
  const Clock& clock;
};

// Threads: strand.
class McpChild final : public std::enable_shared_from_this<McpChild> {
 public:
  static std::shared_ptr<McpChild> start(McpChildParts parts, AgentSpec spec, McpChildObserver& observer);
  ~McpChild();
  McpChild(const McpChild&) = delete;
  McpChild& operator=(const McpChild&) = delete;

  // Queues bytes, also before the program runs. False if kMaxMcpInputBytes are waiting, or it reads no more.
  bool write(std::string_view bytes);
  bool stuck() const { return !input_.empty(); }
  // Ends its input, then SIGTERM, then SIGKILL; on_child_end() follows.
  void end();
  void kill();
  // Nothing is called any more, and all of its processes are killed. Waits for that, in a bounded time.
  void abandon();

 private:
  enum class Stream { in, out, err, warden };
  struct Watch final : net::EventLoop::Watcher {
    Watch(McpChild& owner, Stream which) : child(owner), stream(which) {}
    void on_events(std::uint32_t) override { child.ready(stream); }
    McpChild& child;
    const Stream stream;
  };
  enum class Phase { starting, running, closing, terminating, killing, lost, over };

  McpChild(McpChildParts parts, McpChildObserver& observer);
  void launch(AgentSpec spec);
  void launched(Result<LaunchedAgent> result);
  void ready(Stream stream);
  void read_output(Descriptor& from, Stream stream);
  void write_input();
  void close_input();
  void hear_warden();
  void time_passed();
  void warden_lost();
  void abandon_warden();
  void finish(std::string how);
  void unwatch(Descriptor& descriptor);

  const McpChildParts parts_;
  McpChildObserver* observer_;  // null once nothing may be called
  Phase phase_ = Phase::starting;
  bool end_asked_ = false, kill_asked_ = false;
  std::optional<LaunchedAgent> agent_;
  std::optional<AgentExit> exit_;
  std::string input_;
  bool input_open_ = true;
  Watch in_, out_, err_, warden_;
  net::Timer deadline_;
  std::thread thread_;  // starts the program, or ends what a lost warden has left
};

}  // namespace shepherd
