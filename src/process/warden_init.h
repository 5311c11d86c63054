// The init process of a confined agent's PID namespace.
//
// The agent's processes can neither see nor signal processes outside. Orphans among them become children of this one,
// which reaps them. When it ends, the kernel kills all of them at once. It ends with the warden, and also with the
// runner, even if the warden is stopped. The agent itself is the warden's child, as without a namespace.
// Threads: caller (a process with one thread).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"

namespace shepherd {

// Creates a PID namespace for the later children of this process, starts its init process and returns that number. With
// `joins_users` it is inside the user namespace that is open as kWardenUsers. unavailable/cannot_confine if the machine
// does not allow it.
Result<pid_t> enter_own_processes(bool joins_users);

// Ends the init process and with it all processes of the namespace. It must be a child of this process. The kernel
// releases it only after all of them were reaped, including the agent. Returns false if that took longer than
// `deadline_ms` (steady time).
bool end_first_process(pid_t first, std::int64_t deadline_ms, const Clock& clock);

}  // namespace shepherd
