// Shared parts of this folder's tests: a real server on a free loopback port, a client that sees every byte, and
// handlers that record. Every wait is for a fact, not for time to pass, with a generous bound.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "net/server.h"

namespace shepherd::net {

inline constexpr std::chrono::seconds kTestPatience{10};

// A handler made of functions. The default answers 200 with "METHOD target body".
class ScriptedHandler : public HttpHandler {
 public:
  std::function<Admission(const Request&)> on_admit = [](const Request&) { return Admission{1 << 20, {}}; };
  std::function<void(Request&&, Responder)> on_request = [](Request&& request, Responder responder) {
    responder.send({200, "text/plain", {}, request.method + " " + request.target + " " + request.body, false});
  };

  Admission admit(const Request& head) override { return on_admit(head); }
  void handle(Request&& request, Responder responder) override { on_request(std::move(request), std::move(responder)); }
  Response protocol_error(int status, std::string_view reason, std::string_view /*message*/) override {
    return {status, "text/plain", {}, std::string(reason), false};
  }
};

// Records the calls of a stream handler and lets the test wait for them.
class StreamProbe : public StreamHandler {
 public:
  std::function<void(StreamConnection&)> when_open = [](StreamConnection&) {};
  std::function<void(StreamConnection&)> when_drained = [](StreamConnection&) {};
  std::function<void(StreamConnection&)> when_shutdown = [](StreamConnection& c) { c.finish(1001, "going down"); };

  void on_open(StreamConnection& connection) override {
    connection_ = &connection;
    when_open(connection);
    note([&] { executor_ = &connection.executor(); });
  }
  void on_drained() override {
    when_drained(*connection_);
    note([&] { ++drained_; });
  }
  void on_tick(std::int64_t) override {
    note([&] { ++ticks_; });
  }
  void on_message(std::string_view text) override {
    note([&] { messages_.emplace_back(text); });
  }
  void on_shutdown() override { when_shutdown(*connection_); }
  void on_close(CloseCause cause) override {
    connection_ = nullptr;
    note([&] { cause_ = cause; });
  }

  // Runs on the stream's io thread.
  void run(std::function<void(StreamConnection&)> use) {
    ASSERT_TRUE(wait_open());
    executor_->post([this, use = std::move(use)] {
      if (connection_ != nullptr) use(*connection_);
    });
  }
  bool wait_open() {
    return wait([&] { return executor_ != nullptr; });
  }
  std::optional<CloseCause> wait_closed() {
    wait([&] { return cause_.has_value(); });
    std::lock_guard lock(mutex_);
    return cause_;
  }
  bool wait_messages(std::size_t count) {
    return wait([&] { return messages_.size() >= count; });
  }
  bool wait_drained(int count) {
    return wait([&] { return drained_ >= count; });
  }
  bool wait_ticks(int count) {
    return wait([&] { return ticks_ >= count; });
  }
  std::vector<std::string> messages() {
    std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  template <class Change>
  void note(Change change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <class Fact>
  bool wait(Fact fact) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience, fact);
  }

  StreamConnection* connection_ = nullptr;  // owned by the io thread
  std::mutex mutex_;
  std::condition_variable changed_;
  Executor* executor_ = nullptr;
  int drained_ = 0;
  int ticks_ = 0;
  std::vector<std::string> messages_;
  std::optional<CloseCause> cause_;
};

struct TestServer {
  explicit TestServer(std::size_t threads = 2) : io(threads) {
    options.address = "127.0.0.1:0";
    options.name = "test";
    options.deadlines.sweep = std::chrono::milliseconds(5);
  }
  ~TestServer() {
    if (server) server->shutdown(0);
  }

  void start() {
    auto listening = HttpServer::listen(io, options, handler, clock, metrics);
    ASSERT_TRUE(listening) << listening.error().message;
    server = std::move(*listening);
  }
  std::uint64_t counter(std::string_view name) { return metrics.counter(name, "", "server=\"test\"").value(); }
  std::int64_t gauge(std::string_view name) { return metrics.gauge(name, "", "server=\"test\"").value(); }

  ScriptedHandler handler;
  SystemClock clock;
  MetricRegistry metrics;
  IoThreads io;
  ListenOptions options;
  std::unique_ptr<HttpServer> server;
};

struct RawResponse {
  int status = 0;
  std::string head;
  std::string body;
};

// A plain TCP client. Waits at most kTestPatience for anything.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t put = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }
  void end_output() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  // Ends the connection with a reset, like a machine that restarted.
  void reset() {
    linger hard{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

  // Reads exactly `count` bytes, or fewer if the peer ends first.
  std::string read(std::size_t count) {
    while (buffer_.size() < count && fill()) {
    }
    std::string out = buffer_.substr(0, count);
    buffer_.erase(0, out.size());
    return out;
  }
  std::string read_until(std::string_view mark) {
    std::size_t at;
    while ((at = buffer_.find(mark)) == std::string::npos) {
      if (!fill()) return {};
    }
    return read(at + mark.size());
  }
  std::string read_to_end() {
    while (fill()) {
    }
    return std::exchange(buffer_, {});
  }
  // True if the peer ended the connection and nothing is left to read.
  bool at_end() {
    if (!buffer_.empty()) return false;
    return !fill() && ended_;
  }
  RawResponse read_response(bool has_body = true) {
    RawResponse response;
    response.head = read_until("\r\n\r\n");
    if (response.head.size() < 12) return response;
    std::from_chars(response.head.data() + 9, response.head.data() + 12, response.status);
    std::size_t at = response.head.find("Content-Length: ");
    if (at == std::string::npos || !has_body) return response;
    std::size_t size = 0;
    std::from_chars(response.head.data() + at + 16, response.head.data() + response.head.size(), size);
    response.body = read(size);
    return response;
  }

 private:
  bool fill() {
    if (ended_) return false;
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kTestPatience).count())) <= 0) return false;
    char bytes[16'384];
    ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) {
      ended_ = true;
      return false;
    }
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  int fd_;
  bool connected_ = false;
  bool ended_ = false;
  std::string buffer_;
};

// Waits for a fact that the server reaches by itself.
template <class Fact>
bool eventually(Fact fact) {
  auto end = std::chrono::steady_clock::now() + kTestPatience;
  while (!fact()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace shepherd::net
