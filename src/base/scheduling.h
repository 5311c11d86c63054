// How the kernel shares the cores between this program's threads. Both are wishes for the calling thread: a kernel that
// does not know them leaves it as it is.
// Threads: caller.
#pragma once

namespace shepherd {

// For a thread that others wait for and that runs briefly: when it wakes, it runs at once and not after somebody's
// whole time slice.
void run_in_short_bursts();

// For a thread whose work nobody waits for: it gets what the others leave.
void run_when_idle();

}  // namespace shepherd
