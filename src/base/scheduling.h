// How the kernel shares the cores between this program's threads.
// Threads: caller.
#pragma once

namespace shepherd {

// For a thread whose work nobody waits for: it gets what the others leave. A wish for the calling thread: where the
// kernel does not grant it, the thread runs like any other.
void run_when_idle();

}  // namespace shepherd
