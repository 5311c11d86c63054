// Delivers what was left behind in a spool directory: by runners that are gone, when this one starts, and by runs of
// this one that ended while the server was away.
#pragma once

#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "client/live_client.h"
#include "net/client.h"

namespace shepherd {

// One thread. It looks at once, again when it is asked to, and every kSpoolLook while something is left that no other
// process delivers. Threads: any.
class SpoolCourier {
 public:
  SpoolCourier(std::string directory, Locate locate, net::ClientTls tls, const Clock& clock);
  // Waits for what is under way: kPendingDrain, and kClientTimeout at most for a server that does not answer.
  ~SpoolCourier();
  SpoolCourier(const SpoolCourier&) = delete;
  SpoolCourier& operator=(const SpoolCourier&) = delete;

  void look_again() EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);
  bool deliver() EXCLUDES(mutex_);  // true: something is left
  bool stopping() const EXCLUDES(mutex_);

  const std::string directory_;
  const Locate locate_;
  const net::ClientTls tls_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool asked_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace shepherd
