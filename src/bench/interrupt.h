// Ctrl-C: a measurement ends early and in good order, so that no server and no data stay behind.
#pragma once

#include "base/result.h"

namespace shepherd::bench {

// From now on SIGINT and SIGTERM only set a mark, which every wait of the bench looks at. A second one ends the
// process. Threads: caller.
void watch_for_interrupts();

// unavailable/interrupted once a signal came. Threads: any.
Result<void> check_interrupt();

}  // namespace shepherd::bench
