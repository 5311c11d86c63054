#include "bench/cores.h"

#include <sched.h>
#include <unistd.h>

#include <cstddef>

namespace shepherd::bench {

Cores separate_cores() {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count < 2) return {};
  return {.server = static_cast<int>(count - 1), .tool = 0};
}

void run_on_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0) {
    CPU_SET(static_cast<std::size_t>(core), &cores);
  } else {
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &cores);
  }
  sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace shepherd::bench
