// What hooks and earlier runs left behind, delivered beside a run: its start does not wait for it.
#pragma once

#include <thread>
#include <vector>

#include "cli/local_runner.h"
#include "outbox/spool.h"

namespace shepherd {

// Looks for spools when it is made, before the run makes its own; one thread delivers them.
// Threads: caller. The runner must outlive it.
class PendingDelivery {
 public:
  explicit PendingDelivery(LocalRunner& runner);
  PendingDelivery(const PendingDelivery&) = delete;
  PendingDelivery& operator=(const PendingDelivery&) = delete;

  // Waits for what is under way; kPendingDrain at most when the server does not take it. Once.
  PendingDelivered finish();

 private:
  PendingDelivered delivered_;  // the thread's, until it is joined
  std::jthread thread_;         // last: it uses all of the above
};

}  // namespace shepherd
