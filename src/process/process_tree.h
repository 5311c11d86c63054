// Reads a process and its descendants from /proc.
//
// Every result is a snapshot of something that changes: a process may exit or fork a moment later. To end a tree,
// repeat until nothing new appears, and ask wait() whether a process is left.
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
  std::uint64_t start_ticks = 0;   // since boot; identifies a process together with the pid
  std::uint64_t cpu_ticks = 0;     // of the process itself
  std::uint64_t waited_ticks = 0;  // of ended children it has waited for
  std::uint64_t resident_bytes = 0;
};

// Returns nullopt if there is no such process (any more).
std::optional<ProcessStat> process_stat(pid_t pid);

// The arguments joined by spaces, at most kMaxCommandLineBytes; the kernel's short name if there are none.
std::string command_line(pid_t pid);

// The living processes and zombies below `root`, parents before their children, without `root`. `visit` is called with
// each before its children are looked up, so a process that it stops gets no more children.
using Visit = std::function<void(const ProcessStat&)>;
std::vector<ProcessStat> descendants_of(pid_t root, const Visit& visit = {});

// Sends `signal` to `pid` if it is still a child of `parent`; a number that was reused meanwhile gets nothing. Returns
// false if there was no such process.
bool signal_child_of(pid_t parent, pid_t pid, int signal);

}  // namespace shepherd
