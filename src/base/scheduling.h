// How the kernel shares the cores between this program's threads.
// Threads: caller.
#pragma once

namespace shepherd {

// Gives the calling thread the smallest share of a busy core; for work that no request waits for. It still gets its
// share, so a lock that it holds is released soon. With SCHED_IDLE it would not: the writer could wait for such a lock
// as long as other threads keep the cores busy.
void run_in_background();

}  // namespace shepherd
