// Handles Ctrl-C: a measurement ends early and properly, so that no server and no data are left behind.
#pragma once

#include "base/result.h"

namespace shepherd::bench {

// From now on SIGINT and SIGTERM only set a flag, which every wait of the bench checks. A second signal ends the
// process. Threads: caller.
void watch_for_interrupts();

// unavailable/interrupted after a signal. Threads: any.
Result<void> check_interrupt();

}  // namespace shepherd::bench
