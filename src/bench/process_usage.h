// Resource use of a process, from /proc: its own and that of its living children (nginx works in one). 0 if the process
// does not exist.
// Threads: any.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace shepherd::bench {

double cpu_seconds(pid_t pid);
std::uint64_t rss_bytes(pid_t pid);

}  // namespace shepherd::bench
