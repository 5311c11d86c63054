// Keeps this process's secrets to itself. Threads: caller, before any other thread runs.
#pragma once

#include "client/find_server.h"

namespace shepherd {

// Other processes of the same user can look into neither its memory nor its environment from here on (/proc), and no
// core file is written. SHEPHERD_TOKEN is taken out of the environment, bytes and all, so that it is inherited by
// nobody and is not in /proc for root either; what is returned still knows it.
Environment keep_secrets();

}  // namespace shepherd
