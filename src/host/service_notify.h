// Tells systemd how the service is doing (sd_notify's protocol: a datagram to NOTIFY_SOCKET). Outside of systemd it
// does nothing.
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
  // How often the watchdog wants to hear from us (half of its limit); nullopt: not at all.
  std::optional<std::chrono::milliseconds> watchdog_interval() const { return watchdog_; }

 private:
  std::string address_;  // as connect() takes it: an abstract name begins with a NUL
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace shepherd
