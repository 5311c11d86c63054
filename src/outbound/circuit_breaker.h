// Leaves a host alone that keeps failing: after kBreakerFailures in a row it is not tried for kBreakerPause, then one
// try decides.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "outbound/limits.h"

namespace shepherd {

// Threads: caller.
class CircuitBreaker {
 public:
  // When the host may be tried; now or earlier: at once.
  std::int64_t may_try_at(const std::string& host) const {
    auto known = hosts_.find(host);
    return known == hosts_.end() ? 0 : known->second.open_until_ms;
  }
  // One attempt at an open host decides alone: the others wait for another pause.
  void trying(const std::string& host, std::int64_t now_ms) {
    auto known = hosts_.find(host);
    if (known != hosts_.end() && known->second.failures >= kBreakerFailures) {
      known->second.open_until_ms = now_ms + kBreakerPause.count();
    }
  }
  void succeeded(const std::string& host) { hosts_.erase(host); }
  void failed(const std::string& host, std::int64_t now_ms) {
    if (hosts_.size() >= kBreakerHosts && !hosts_.contains(host)) hosts_.erase(hosts_.begin());
    Host& known = hosts_[host];
    if (++known.failures >= kBreakerFailures) known.open_until_ms = now_ms + kBreakerPause.count();
  }

 private:
  struct Host {
    int failures = 0;  // in a row
    std::int64_t open_until_ms = 0;
  };
  std::map<std::string, Host> hosts_;
};

}  // namespace shepherd
