// Keeps this process's secrets to itself. Threads: caller, before any other thread runs.
#pragma once

#include "client/find_server.h"

namespace shepherd {

// Other processes of the same user can look into neither its memory nor its environment from here on (/proc), and no
// core file is written. SHEPHERD_TOKEN is taken out of the environment, bytes and all, so that no child
// inherits it and root cannot read it in /proc either; the returned environment still has it.
Environment keep_secrets();

}  // namespace shepherd
