#include "outbox/spool_courier.h"

#include <utility>

#include "base/log.h"
#include "outbox/deliver_spool.h"
#include "outbox/limits.h"

namespace shepherd {

SpoolCourier::SpoolCourier(std::string directory, Locate locate, net::ClientTls tls, const Clock& clock)
    : directory_(std::move(directory)),
      locate_(std::move(locate)),
      tls_(std::move(tls)),
      clock_(clock),
      thread_([this] { run(); }) {}

SpoolCourier::~SpoolCourier() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void SpoolCourier::look_again() {
  MutexLock lock(mutex_);
  asked_ = true;
  changed_.notify_all();
}

bool SpoolCourier::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void SpoolCourier::run() {
  for (;;) {
    bool left = deliver();
    MutexLock lock(mutex_);
    std::int64_t until_ms = clock_.steady_ms() + kSpoolLook.count();
    while (!stopping_ && !asked_) {
      std::int64_t left_ms = until_ms - clock_.steady_ms();
      if (left && left_ms <= 0) break;
      if (left) {
        changed_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
      } else {
        changed_.wait(mutex_);
      }
    }
    if (stopping_) return;
    asked_ = false;
  }
}

bool SpoolCourier::deliver() {
  bool left = false;
  for (const PendingSpool& spool : Spool::pending(directory_)) {
    if (stopping()) return true;
    if (spool.in_use) continue;
    Result<Delivered> done = deliver_spool(spool, locate_, tls_, clock_);
    if (!done) {
      spdlog::debug("{}: {}", spool.path, done.error().message);
      left = left || done.error().reason == "spool_in_use";
      continue;
    }
    if (done->events > 0) {
      log_info("delivered {} events of {} that an earlier run left behind", done->events, spool.identity.task);
    }
    if (!done->set_aside.empty())
      log_warn("no server takes what is left of {}; it is set aside in {}", spool.identity.task, done->set_aside);
    left = left || (done->left > 0 && done->set_aside.empty());
    if (done->stuck) return true;
  }
  return left;
}

}  // namespace shepherd
