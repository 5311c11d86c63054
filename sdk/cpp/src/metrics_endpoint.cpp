#include "metrics_endpoint.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace shepherd::agent {
namespace {

constexpr std::size_t kMaxRequestBytes = 8 * 1024;       // enough for the request line and headers of a scraper
constexpr timeval kPatience{.tv_sec = 2, .tv_usec = 0};  // for a client that connects and sends nothing

std::runtime_error cannot(const std::string& address, const std::string& why) {
  return std::runtime_error("cannot serve metrics on " + address + ": " + why);
}

struct Resolved {
  addrinfo* list = nullptr;
  ~Resolved() {
    if (list != nullptr) ::freeaddrinfo(list);
  }
};

int listen_on(const std::string& address) {
  std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) throw cannot(address, "it must be HOST:PORT");
  std::string host = address.substr(0, colon), port = address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  Resolved found;
  if (int problem = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found.list); problem != 0) {
    throw cannot(address, ::gai_strerror(problem));
  }
  int listener = ::socket(found.list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  if (listener >= 0) ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (listener < 0 || ::bind(listener, found.list->ai_addr, found.list->ai_addrlen) != 0 ||
      ::listen(listener, 16) != 0) {
    std::string why = std::strerror(errno);
    if (listener >= 0) ::close(listener);
    throw cannot(address, why);
  }
  return listener;
}

int port_of(int listener) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

std::string response(std::string_view status, std::string_view body) {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: ");
  text.append(std::to_string(body.size())).append("\r\nConnection: close\r\n\r\n").append(body);
  return text;
}

}  // namespace

MetricsEndpoint::MetricsEndpoint(const std::string& address, std::function<std::string()> text)
    : text_(std::move(text)), listener_(listen_on(address)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  port_ = port_of(listener_);
  thread_ = std::thread([this] { run(); });
}

MetricsEndpoint::~MetricsEndpoint() {
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t told = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(listener_);
  ::close(stop_);
}

void MetricsEndpoint::run() const {
  std::array<pollfd, 2> watched{{{listener_, POLLIN, 0}, {stop_, POLLIN, 0}}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    if (watched[0].revents == 0) continue;
    int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer(client);
    ::close(client);
  }
}

void MetricsEndpoint::answer(int client) const {
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  auto begun = std::chrono::steady_clock::now();
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos) {
    // A client that sends byte by byte never hits the socket's time limit.
    if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(kPatience.tv_sec)) return;
    std::array<char, 1024> bytes{};
    ssize_t got = ::recv(client, bytes.data(), bytes.size(), 0);
    if (got <= 0 || request.size() > kMaxRequestBytes) return;
    request.append(bytes.data(), static_cast<std::size_t>(got));
  }
  bool wanted = request.starts_with("GET /metrics ") || request.starts_with("GET /metrics?");
  std::string text = wanted ? response("200 OK", text_()) : response("404 Not Found", "try /metrics\n");
  for (std::string_view rest = text; !rest.empty();) {
    ssize_t sent = ::send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace shepherd::agent
