// Assigns different cores to a measured server and the tool, so that they do not disturb each other.
// Threads: any.
#pragma once

namespace shepherd::bench {

struct Cores {
  int server = -1;  // -1: any core
  int tool = -1;
};

// The last core for servers, the first for the tool; no choice on a machine with one core.
Cores separate_cores();

// Pins the calling thread, and a program that it executes, to the core; -1: any core.
void run_on_core(int core);

}  // namespace shepherd::bench
