// What a confinement takes from its agent beyond paths: privileges, and the ways around that only root has.
// Threads: caller (a process with one thread).
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

// Errors are those of confine().

// Root could read every file on the raw disk: a directory of devices that holds only what programs need.
Result<void> mount_own_devices();
// Root could have the kernel start a program outside: its settings become unwritable. After /proc is the agent's own.
Result<void> protect_kernel_settings();
// In a user namespace all capabilities, and setuid programs give none back. As root without one: all but those with
// which it installs packages and changes files. A process that already cannot get new ones only has to drop those it
// has.
Result<void> give_up_privileges();

// Makes what is mounted at `path` read-only; `flags` as of mount_setattr.
Result<void> protect(const std::string& path, unsigned flags);
// Mounts what is at `from`, with all that is mounted inside, at `path`.
Result<void> show_at(const std::string& from, const std::string& path);

}  // namespace shepherd
