// Ends a set of processes that keeps changing meanwhile.
//
// Killing one by one loses against a program that forks faster. All processes are therefore stopped first, in passes,
// until a pass finds no new one; a stopped process cannot fork. Then all are killed, in rounds, until none is left.
// Children of a killed process become children of the nearest subreaper, which is the caller.
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

  // The same set without one process that belongs to us (may be 0).
  static Members all_but(pid_t ours, Members members);

  // `members` returns the present members of the set, like descendants_of(). `clock` must outlive this.
  TreeEnd(Members members, const Clock& clock) : members_(std::move(members)), clock_(clock) {}

  // Sets the process whose number must not be reused before the end: it is checked but not reaped until no other
  // process is left. report() uses `command` as its name, or /proc's if that is empty.
  void keep(pid_t pid, std::string command = "");
  const std::optional<AgentExit>& kept_exit() const { return kept_exit_; }  // set once it has ended and reap() saw it
  // Notes the present processes, so that report() can include them.
  void note();
  // Stops all processes, including those started meanwhile.
  void freeze();
  // Continues all processes, children before parents.
  void thaw();
  // Reaps ended children. Returns true if no process is left.
  bool reap();
  // Freezes, kills and reaps until no process is left or the time is over; after that reap() still reports later ends.
  bool kill(std::chrono::milliseconds wait);
  // Reports the ended and the remaining processes.
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
