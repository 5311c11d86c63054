#include "base/scheduling.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/limits.h"

namespace shepherd {

namespace {

// The kernel's struct sched_attr in its first version; its header cannot be included beside sched.h.
struct SchedulingWish {
  std::uint32_t size = sizeof(SchedulingWish);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(SchedulingWish) == 48);

}  // namespace

void run_in_short_bursts() {
  SchedulingWish wish;
  wish.runtime_ns = kShortSlice.count();  // Linux 6.12 and later read it as the length of a slice
  syscall(SYS_sched_setattr, 0, &wish, 0U);
}

void run_when_idle() {
  SchedulingWish wish;
  wish.policy = SCHED_IDLE;
  syscall(SYS_sched_setattr, 0, &wish, 0U);
}

}  // namespace shepherd
