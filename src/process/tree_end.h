// Ends a set of processes that keeps changing while it is being ended.
//
// Killing one by one loses against a program that forks faster. So every process is stopped first, in passes, until a
// pass finds no new one; a stopped process cannot fork. Then all are killed, and the rounds go on until none is left.
// Children of a killed process become children of the nearest subreaper, which is the process that runs this.
// Threads: caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "process/agent_end.h"
#include "process/process_tree.h"

namespace shepherd {

class TreeEnd {
 public:
  using Members = std::function<std::vector<ProcessStat>(const Visit&)>;

  // The same set, but for one process that belongs to us; it may be 0.
  static Members all_but(pid_t ours, Members members);

  // `members` looks up who belongs to the set now, as descendants_of() does. `clock` must outlive this.
  TreeEnd(Members members, const Clock& clock) : members_(std::move(members)), clock_(clock) {}

  // The process whose number must not be reused before everything is over: it is not reaped, only looked at, until
  // no other process is left. `command` is what report() calls it; empty: what /proc says.
  void keep(pid_t pid, std::string command = "");
  const std::optional<AgentExit>& kept_exit() const { return kept_exit_; }  // once it has ended and reap() saw it
  // Remembers who is there, so that finish() can say what became of them.
  void note();
  // Stops every process, also those that are started meanwhile.
  void freeze();
  // Lets every process continue, children before parents.
  void thaw();
  // Takes the answers of children that have ended. True when no process is left.
  bool reap();
  // Freezes, kills and reaps until no process is left or the time is over; reap() still finds those that end later.
  bool kill(std::chrono::milliseconds wait);
  // Lists the processes that have ended and those that have not.
  void report(AgentEnd& end);

 private:
  using Name = std::pair<pid_t, std::uint64_t>;  // with start_ticks
  struct Noted {
    std::string command_line;
    std::string how = "gone";
  };

  void remember(const ProcessStat& process);
  void kill_all();
  void freeze(const Visit& also);
  bool reap_child(const ProcessStat& child);

  Members members_;
  const Clock& clock_;
  pid_t kept_ = 0;
  std::string kept_command_;
  std::optional<AgentExit> kept_exit_;
  std::map<Name, Noted> noted_;
  std::size_t unlisted_ = 0;
};

}  // namespace shepherd
