// Reports the service's state to systemd (sd_notify's protocol: a datagram to NOTIFY_SOCKET). Without systemd it does
// nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "client/find_server.h"

namespace shepherd {

// Threads: any.
class ServiceNotify {
 public:
  explicit ServiceNotify(const Environment& environment);

  void send(std::string_view state) const;  // "READY=1", "STOPPING=1", "WATCHDOG=1"; best effort
  // The interval for watchdog messages (half of its limit); nullopt if there is no watchdog.
  std::optional<std::chrono::milliseconds> watchdog_interval() const { return watchdog_; }

 private:
  std::string address_;  // as connect() needs it: an abstract name begins with a NUL
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace shepherd
