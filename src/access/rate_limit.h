// Limits bad credentials per peer address: kFailedLoginsPerMinute, refilled evenly. An IPv6 peer counts by its /64,
// because one customer usually has a whole /64.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace shepherd {

// Remembers at most kFailedLoginPeers addresses and evicts the one quiet for longest. Threads: any. check() takes no
// lock without recent failures.
class FailedLoginLimit {
 public:
  explicit FailedLoginLimit(const Clock& clock) : clock_(clock) {}

  // Call after wrong credentials, before the refusal: rate_limited/too_many_failures with retryAfterSeconds. Never
  // called for good ones, so one failing program does not lock out its address. `peer` is "address:port" or an address.
  Result<void> check(std::string_view peer) EXCLUDES(mutex_);
  // Counts one failure.
  void failed(std::string_view peer) EXCLUDES(mutex_);

 private:
  struct Peer {
    std::string address;
    double failures = 0;  // within the last minute, draining with time
    std::int64_t at_ms = 0;
  };
  using Peers = std::list<Peer>;  // the most recent failure is at the back

  static std::string address_of(std::string_view peer);
  static double failures_at(const Peer& peer, std::int64_t now_ms);

  const Clock& clock_;
  Mutex mutex_;
  Peers peers_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, Peers::iterator> known_ GUARDED_BY(mutex_);
  std::atomic<std::int64_t> last_failure_ms_{kNever};

  static constexpr std::int64_t kNever = -1'000'000;
};

}  // namespace shepherd
