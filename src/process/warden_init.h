// The first process of a confined agent's own process numbers.
//
// The agent's processes see no process outside and can signal none. A process that loses its parent becomes a child of
// this one, which reaps it. When it ends, the kernel ends all of them at once; it ends when the warden does,
// and when the runner does, though the warden may be stopped. The agent itself is the warden's child, as without it.
// Threads: caller (a process with one thread).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"

namespace shepherd {

// From here on every process that this one starts is in there. Its first process is started and its number returned.
// unavailable/cannot_confine when the machine does not allow it.
Result<pid_t> enter_own_processes();

// Ends it, and with it every process in there. It must be a child of this process. The kernel lets it go only when
// the answers of all of them were taken, the agent's too. False when that did not come true by `deadline_ms`, steady.
bool end_first_process(pid_t first, std::int64_t deadline_ms, const Clock& clock);

}  // namespace shepherd
