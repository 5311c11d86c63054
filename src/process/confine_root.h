// Restrictions of a confinement beyond paths: privileges, and the ways around that only root has.
// Threads: caller (a process with one thread).
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

// Errors are those of confine().

// Mounts a directory with only the devices that programs need, because root could read every file through the raw disk.
Result<void> mount_own_devices();
// Makes kernel settings unwritable, because root could make the kernel start a program outside. Call it once /proc is
// the agent's own.
Result<void> protect_kernel_settings();
// Drops, in a user namespace, all capabilities, and setuid programs give none back. As real root it drops all but those
// needed to install packages and change files. A process with no_new_privs only needs to drop what it has.
Result<void> give_up_privileges();

// Makes the mount at `path` read-only; `flags` as in mount_setattr.
Result<void> protect(const std::string& path, unsigned flags);
// Mounts `from`, with all mounts inside, at `path`.
Result<void> show_at(const std::string& from, const std::string& path);

}  // namespace shepherd
