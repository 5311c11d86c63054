#include "bench/interrupt.h"

#include <csignal>

namespace shepherd::bench {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void watch_for_interrupts() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

Result<void> check_interrupt() {
  if (interrupted == 0) return {};
  return fail(ErrorCode::unavailable, "interrupted", "interrupted");
}

}  // namespace shepherd::bench
