#include "bench/bare_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <utility>

#include "bench/http_text.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kKeepLogBytes = 1024 * 1024;  // log size at which frames that all consumers have are dropped
// The handshake answer for the one key that Subscribers sends.
constexpr std::string_view kUpgraded =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: bench\r\n\r\n";

void append_frame_head(std::string& out, std::size_t payload) {
  out += static_cast<char>(0x81);
  if (payload < 126) {
    out += static_cast<char>(payload);
  } else if (payload < 65536) {
    out += {static_cast<char>(126), static_cast<char>(payload >> 8), static_cast<char>(payload)};
  } else {
    out += static_cast<char>(127);
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(payload >> shift);
  }
}

}  // namespace

Result<BareServer> BareServer::listen() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&where), size) != 0 || ::listen(fd, 4096) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    if (fd >= 0) close(fd);
    return fail(ErrorCode::unavailable, "no_port", "cannot listen on 127.0.0.1");
  }
  return BareServer(fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), ntohs(where.sin_port));
}

BareServer::BareServer(BareServer&& other) noexcept
    : listener_(std::exchange(other.listener_, -1)), wake_(std::exchange(other.wake_, -1)), port_(other.port_) {}

BareServer::~BareServer() {
  for (std::size_t fd = 0; fd < connections_.size(); ++fd) {
    if (connections_[fd].open) close(static_cast<int>(fd));
  }
  if (listener_ >= 0) close(listener_);
  if (wake_ >= 0) close(wake_);
}

void BareServer::stop() {
  std::uint64_t one = 1;
  [[maybe_unused]] long written = write(wake_, &one, sizeof one);
}

void BareServer::run() {
  Poller poller;
  poller.add(listener_, static_cast<std::uint64_t>(listener_), false);
  poller.add(wake_, static_cast<std::uint64_t>(wake_), false);
  while (true) {
    for (const epoll_event& event : poller.wait(60 * kNsPerSecond)) {
      int fd = static_cast<int>(event.data.u64);
      if (fd == wake_) return;
      if (fd == listener_) {
        accept_all(poller);
      } else {
        on_ready(poller, fd);
      }
    }
    flush(poller);
  }
}

void BareServer::accept_all(Poller& poller) {
  while (true) {
    int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connections_.size() <= static_cast<std::size_t>(fd)) connections_.resize(static_cast<std::size_t>(fd) + 1);
    connections_[static_cast<std::size_t>(fd)] = {};
    connections_[static_cast<std::size_t>(fd)].open = true;
    poller.add(fd, static_cast<std::uint64_t>(fd), false);
  }
}

void BareServer::on_ready(Poller& poller, int fd) {
  Connection& connection = connections_[static_cast<std::size_t>(fd)];
  if (!connection.open) return;
  if (connection.watching_write) send_log(poller, fd);
  long got = recv(fd, buffer_.data(), buffer_.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return drop(poller, fd);
  if (got < 0 || connection.channel != nullptr) return;  // ignores a consumer's own frames (pongs)
  connection.in.append(buffer_.data(), static_cast<std::size_t>(got));
  while (connection.open && take_request(poller, fd)) {
  }
}

bool BareServer::take_request(Poller& poller, int fd) {
  Connection& connection = connections_[static_cast<std::size_t>(fd)];
  std::string_view in = connection.in;
  std::size_t head_end = in.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return false;
  std::string_view head = in.substr(0, head_end + 2);
  std::size_t slash = head.find('/');
  std::string_view name = head.substr(slash + 1, head.find(' ', slash) - slash - 1);
  auto found = channels_.find(name);
  if (found == channels_.end()) found = channels_.emplace(std::string(name), Channel{}).first;
  Channel& channel = found->second;

  if (head.starts_with("GET ")) {
    connection.channel = &channel;
    connection.offset = channel.log.size();
    channel.subscribers.push_back(fd);
    connection.in.clear();
    if (send(fd, kUpgraded.data(), kUpgraded.size(), MSG_NOSIGNAL) < 0) drop(poller, fd);
    return false;
  }
  std::size_t body_bytes = 0;
  std::string_view length = header_value(head, "Content-Length");
  std::from_chars(length.data(), length.data() + length.size(), body_bytes);
  if (in.size() < head_end + 4 + body_bytes) return false;
  append_events(channel, name, in.substr(head_end + 4, body_bytes));
  connection.in.erase(0, head_end + 4 + body_bytes);
  std::string answer = fmt::format(R"({{"status":"accepted","sequence":{}}})", channel.sequence);
  answer = fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                       answer.size(), answer);
  if (send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) drop(poller, fd);
  return connection.open;
}

void BareServer::append_events(Channel& channel, std::string_view name, std::string_view body) {
  if (!channel.changed) {
    channel.changed = true;
    changed_.push_back(&channel);
  }
  while (!body.empty()) {
    std::string_view event = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(event.size() + 1, body.size()));
    if (event.size() < 2) continue;
    event.remove_prefix(1);  // the members that the server adds include the opening brace
    char wrap[512];
    auto end = fmt::format_to_n(wrap, sizeof wrap,
                                R"({{"type":"task_event","taskID":"{}","data":{{"sequence":{},)"
                                R"("receivedAt":"2026-02-18T14:00:00.123Z","version":1,)",
                                name, ++channel.sequence);
    std::size_t wrap_bytes = std::min(end.size, sizeof wrap);
    append_frame_head(channel.log, wrap_bytes + event.size() + 1);
    channel.log.append(wrap, wrap_bytes).append(event) += '}';
  }
}

void BareServer::flush(Poller& poller) {
  for (Channel* channel : changed_) {
    channel->changed = false;
    // By index, because send_log() may remove a disconnected consumer from the list.
    for (std::size_t i = channel->subscribers.size(); i-- > 0;) {
      int fd = channel->subscribers[i];
      if (!connections_[static_cast<std::size_t>(fd)].watching_write) send_log(poller, fd);
    }
    cut(*channel);
  }
  changed_.clear();
}

// If every consumer has everything, starts over in memory that is still in the cache. Otherwise cuts only a long log.
void BareServer::cut(Channel& channel) {
  std::size_t slowest = channel.log.size();
  for (int fd : channel.subscribers) slowest = std::min(slowest, connections_[static_cast<std::size_t>(fd)].offset);
  if (slowest < channel.log.size() && channel.log.size() < kKeepLogBytes) return;
  channel.log.erase(0, slowest);
  for (int fd : channel.subscribers) connections_[static_cast<std::size_t>(fd)].offset -= slowest;
}

void BareServer::send_log(Poller& poller, int fd) {
  Connection& connection = connections_[static_cast<std::size_t>(fd)];
  const std::string& log = connection.channel->log;
  while (connection.offset < log.size()) {
    long sent = send(fd, log.data() + connection.offset, log.size() - connection.offset, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) break;
    if (sent < 0) return drop(poller, fd);
    connection.offset += static_cast<std::size_t>(sent);
  }
  watch(poller, fd, connection.offset < log.size());
}

void BareServer::watch(Poller& poller, int fd, bool write) {
  Connection& connection = connections_[static_cast<std::size_t>(fd)];
  if (connection.watching_write == write) return;
  connection.watching_write = write;
  poller.change(fd, static_cast<std::uint64_t>(fd), write);
}

void BareServer::drop(Poller& poller, int fd) {
  Connection& connection = connections_[static_cast<std::size_t>(fd)];
  if (connection.channel != nullptr) std::erase(connection.channel->subscribers, fd);
  poller.remove(fd);
  connection = {};
  close(fd);
}

}  // namespace shepherd::bench
