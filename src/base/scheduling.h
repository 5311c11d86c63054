// How the kernel shares the cores between this program's threads.
// Threads: caller.
#pragma once

namespace shepherd {

// Lets the calling thread run only when no other thread wants the core; for work that no request waits for. If the
// kernel refuses, the thread keeps its normal priority.
void run_when_idle();

}  // namespace shepherd
