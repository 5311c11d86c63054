// Which core a measured server runs on, and which one the tool, so that they do not push each other around.
// Threads: any.
#pragma once

namespace shepherd::bench {

struct Cores {
  int server = -1;  // -1: wherever the kernel likes
  int tool = -1;
};

// The last core for servers, the first for the tool; nothing to choose on a machine with one.
Cores separate_cores();

// The calling thread (before an exec: the program); -1: any core.
void run_on_core(int core);

}  // namespace shepherd::bench
