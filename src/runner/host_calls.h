// Does what one agent asks of its machine (driver/host_call.h): files of the task's directory, commands in terminals.
//
// Requests about files run one after the other on one thread, requests about terminals on another, each in the order in
// which they came. So a disk that blocks holds up neither the agent's output nor its terminals.
//
// A terminal's processes run beside the agent, in its own confinement, and end with the run, however it ends.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "driver/host_call.h"
#include "process/agent_process.h"
#include "runner/host_files.h"
#include "runner/host_terminal.h"

namespace shepherd {

// Where it does it.
struct HostPlace {
  Result<HostFiles> files;
  Result<AgentSpec> beside;  // how a command is started beside the agent, without the command
};

// Threads: any; end() from one, once.
class HostCalls {
 public:
  // Called without a lock, from its own threads. It may block to slow the agent down, until end().
  using Give = std::function<void(HostAnswer answer)>;
  // The clock must outlive it.
  HostCalls(HostPlace place, const Clock& clock, Give give);
  ~HostCalls();  // end()
  HostCalls(const HostCalls&) = delete;
  HostCalls& operator=(const HostCalls&) = delete;

  // Never waits and never calls `give` itself: the answer is given later, once. A refusal is returned instead.
  std::optional<HostAnswer> take(HostCall call) EXCLUDES(mutex_);
  // Kills the processes of all terminals.
  void kill() EXCLUDES(mutex_);
  // Ends all terminals and waits for that. No answer is given afterwards, and `give` must not block any more. Of the
  // commands that still ran it returns the processes, of all of them what they used.
  AgentEnd end() EXCLUDES(mutex_);

 private:
  // A call that is answered when the command has ended.
  struct Waiting {
    std::string call;
    bool wants_state = false;
  };
  struct Terminal {
    std::unique_ptr<HostTerminal> command;
    std::vector<Waiting> waiting;
    bool over = false;
    bool released = false;  // it goes once it is over
  };
  using Terminals = std::map<std::string, Terminal, std::less<>>;

  std::optional<HostAnswer> refused(const HostCall& call) const;
  void post_terminal_work(Work work) EXCLUDES(mutex_);
  void answer(const std::string& call, decltype(HostAnswer::result) result);
  void do_file(const HostCall& call);
  // On the thread of terminals.
  void do_terminal(const HostCall& call);
  void start_terminal(const std::string& call, const StartTerminal& request);
  Result<std::string> start_command(const StartTerminal& request);
  void end_terminal(const std::string& call, Terminal& terminal, bool releases);
  void terminal_over(const std::string& name) EXCLUDES(mutex_);
  Result<AgentSpec> spec_of(const StartTerminal& request) const;

  const HostPlace place_;
  const Clock& clock_;
  const Give give_;
  std::atomic<std::size_t> pending_ = 0;
  std::atomic<bool> closed_ = false;

  // Used by the thread of terminals.
  Terminals terminals_;
  std::size_t started_ = 0;

  Mutex mutex_;
  CondVar changed_;
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  AgentEnd end_ GUARDED_BY(mutex_);
  // Made for the first request, because most agents make none.
  std::unique_ptr<ThreadPool> file_thread_ GUARDED_BY(mutex_);
  std::unique_ptr<ThreadPool> terminal_thread_ GUARDED_BY(mutex_);
};

// Adds to an agent's end what became of its terminals.
void add_end(AgentEnd& to, AgentEnd of);

}  // namespace shepherd
