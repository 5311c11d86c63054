// What /proc says about a process and all that descend from it.
//
// Everything here is a look at something that moves: a process may be gone, or have children, a moment later. A
// caller that needs the end looks again until nothing new turns up, and asks wait() whether a process is left.
// Threads: any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shepherd {

struct ProcessStat {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  char state = '?';                // R, S, D, T, Z, …
  std::uint64_t start_ticks = 0;   // since boot; with the pid it names a process for good
  std::uint64_t cpu_ticks = 0;     // its own
  std::uint64_t waited_ticks = 0;  // of ended children it has waited for
  std::uint64_t resident_bytes = 0;
};

// nullopt: there is no such process (any more).
std::optional<ProcessStat> process_stat(pid_t pid);

// The arguments with a space between, at most kMaxCommandLineBytes; the kernel's short name for one without.
std::string command_line(pid_t pid);

// The living and the unreaped below `root`, parents before their children, `root` itself left out. `visit` is called
// with each before its own children are looked up: who is stopped there has no more children afterwards.
using Visit = std::function<void(const ProcessStat&)>;
std::vector<ProcessStat> descendants_of(pid_t root, const Visit& visit = {});

// Sends `signal` to `pid` if it is still a child of `parent`; a number that was given to another process in between
// gets nothing. False when there was no such child.
bool signal_child_of(pid_t parent, pid_t pid, int signal);

}  // namespace shepherd
