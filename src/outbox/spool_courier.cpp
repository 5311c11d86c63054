#include "outbox/spool_courier.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "outbox/deliver_spool.h"

namespace shepherd {

SpoolCourier::SpoolCourier(std::string directory, Locate locate, net::ClientTls tls, const Clock& clock,
                           std::chrono::milliseconds pause)
    : directory_(std::move(directory)),
      locate_(std::move(locate)),
      tls_(std::move(tls)),
      clock_(clock),
      pause_(pause),
      thread_([this] { run(); }) {}

SpoolCourier::~SpoolCourier() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void SpoolCourier::look_again(const std::string& path) {
  MutexLock lock(mutex_);
  added_.insert(path);
  asked_ = true;
  changed_.notify_all();
}

bool SpoolCourier::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void SpoolCourier::run() {
  std::set<std::string> expected;  // spools of runs of this process that are not delivered yet
  for (;;) {
    bool left = deliver(expected);
    MutexLock lock(mutex_);
    std::int64_t until_ms = clock_.steady_ms() + pause_.count();
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
    expected.merge(std::exchange(added_, {}));
  }
}

bool SpoolCourier::deliver(std::set<std::string>& expected) {
  bool left = false;
  std::vector<PendingSpool> pending = Spool::pending(directory_);
  std::erase_if(expected, [&](const std::string& path) {
    return std::ranges::find(pending, path, &PendingSpool::path) == pending.end();
  });
  for (const PendingSpool& spool : pending) {
    if (stopping()) return true;
    if (spool.in_use) {
      left = left || expected.contains(spool.path);
      continue;
    }
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
