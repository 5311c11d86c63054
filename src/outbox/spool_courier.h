// Delivers the spools left behind in a spool directory: those of ended runners, when this one starts, and those of its
// own runs that ended while the server was down.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "client/live_client.h"
#include "net/client.h"
#include "outbox/limits.h"

namespace shepherd {

// One thread. It looks at once, again on request, and every `pause` while there is a spool that no other process
// delivers. Threads: any.
class SpoolCourier {
 public:
  SpoolCourier(std::string directory, Locate locate, net::ClientTls tls, const Clock& clock,
               std::chrono::milliseconds pause = kSpoolLook);
  // Waits for an active delivery: kPendingDrain, and at most kClientTimeout for a server that does not answer.
  ~SpoolCourier();
  SpoolCourier(const SpoolCourier&) = delete;
  SpoolCourier& operator=(const SpoolCourier&) = delete;

  // A run has left this spool. A process that only looks at it (`doctor`, another run that starts) locks it for a
  // moment, so it counts as left until it is gone.
  void look_again(const std::string& path) EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);
  bool deliver(std::set<std::string>& expected) EXCLUDES(mutex_);  // true if something is left
  bool stopping() const EXCLUDES(mutex_);

  const std::string directory_;
  const Locate locate_;
  const net::ClientTls tls_;
  const Clock& clock_;
  const std::chrono::milliseconds pause_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool asked_ GUARDED_BY(mutex_) = false;
  std::set<std::string> added_ GUARDED_BY(mutex_);  // spools that runs have left since the last look
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace shepherd
