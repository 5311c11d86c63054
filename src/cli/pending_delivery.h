// Delivers what hooks and earlier runs left behind while a run works, so that its start does not wait.
#pragma once

#include <thread>
#include <vector>

#include "cli/local_runner.h"
#include "outbox/spool.h"

namespace shepherd {

// The constructor finds the spools, before the run creates its own; one thread delivers them.
// Threads: caller. The runner must outlive it.
class PendingDelivery {
 public:
  explicit PendingDelivery(LocalRunner& runner);
  PendingDelivery(const PendingDelivery&) = delete;
  PendingDelivery& operator=(const PendingDelivery&) = delete;

  // Waits for the current delivery, at most kPendingDrain if the server does not accept it. Call once.
  PendingDelivered finish();

 private:
  PendingDelivered delivered_;  // owned by the thread until it is joined
  std::jthread thread_;         // last, because it uses all of the above
};

}  // namespace shepherd
