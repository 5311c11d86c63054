// The bound on bad credentials per peer address: kFailedLoginsPerMinute, refilled evenly. An IPv6 peer counts by its
// /64, which one customer usually has whole.
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

// Remembers at most kFailedLoginPeers addresses; the one that was quiet longest is forgotten first.
// Threads: any. check() takes no lock while no login has failed lately.
class FailedLoginLimit {
 public:
  explicit FailedLoginLimit(const Clock& clock) : clock_(clock) {}

  // When credentials were wrong, before that is said: rate_limited/too_many_failures with retryAfterSeconds. Good ones
  // are never asked about, so one failing program does not lock out its address. `peer` is "address:port" or an
  // address.
  Result<void> check(std::string_view peer) EXCLUDES(mutex_);
  // Counts one that was wrong.
  void failed(std::string_view peer) EXCLUDES(mutex_);

 private:
  struct Peer {
    std::string address;
    double failures = 0;  // of the last minute, draining with time
    std::int64_t at_ms = 0;
  };
  using Peers = std::list<Peer>;  // the one that failed last is at the back

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
