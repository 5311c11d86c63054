#include "base/scheduling.h"

#include <sys/resource.h>
#include <unistd.h>

namespace shepherd {

void run_in_background() {
  constexpr int kNicest = 19;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNicest);  // of this thread alone; lowering never fails
}

}  // namespace shepherd
