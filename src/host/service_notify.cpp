#include "host/service_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace shepherd {
namespace {

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

ServiceNotify::ServiceNotify(const Environment& environment) : address_(environment("NOTIFY_SOCKET")) {
  if (address_.starts_with('@')) address_.front() = '\0';
  std::int64_t limit_us = number(environment("WATCHDOG_USEC"));
  std::int64_t for_pid = number(environment("WATCHDOG_PID"));
  if (limit_us > 0 && (for_pid == 0 || for_pid == getpid())) {
    watchdog_ = std::chrono::milliseconds(std::max<std::int64_t>(limit_us / 2'000, 1));
  }
}

void ServiceNotify::send(std::string_view state) const {
  sockaddr_un address{};
  if (address_.empty() || address_.size() >= sizeof address.sun_path) return;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  address.sun_family = AF_UNIX;
  std::copy(address_.begin(), address_.end(), address.sun_path);
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  close(descriptor);
}

}  // namespace shepherd
