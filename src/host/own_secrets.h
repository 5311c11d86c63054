// Hides this process's secrets from other processes. Threads: caller, before any other thread runs.
#pragma once

#include "client/find_server.h"

namespace shepherd {

// From here on, other processes of the same user can read neither its memory nor its environment (/proc), and it writes
// no core file. SHEPHERD_TOKEN is overwritten and removed from the environment, so that no child inherits it and /proc
// does not show it even to root. The returned environment still has it.
Environment keep_secrets();

}  // namespace shepherd
