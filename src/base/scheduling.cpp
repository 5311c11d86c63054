#include "base/scheduling.h"

#include <sched.h>

namespace shepherd {

void run_when_idle() {
  const sched_param no_priority{};
  sched_setscheduler(0, SCHED_IDLE, &no_priority);
}

}  // namespace shepherd
