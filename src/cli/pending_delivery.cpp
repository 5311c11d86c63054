#include "cli/pending_delivery.h"

#include <utility>

namespace shepherd {

PendingDelivery::PendingDelivery(LocalRunner& runner)
    : thread_([this, &runner, spools = Spool::pending(runner.spool_directory())](const std::stop_token& stop) {
        delivered_ = runner.deliver_pending(spools, stop);
      }) {}

PendingDelivered PendingDelivery::finish() {
  if (thread_.joinable()) thread_.join();
  return std::exchange(delivered_, {});
}

}  // namespace shepherd
