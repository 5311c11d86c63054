// A scripted HTTP server on loopback, and an observer that records, for tests of whole calls.
// Threads: each type says its own.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "llm/model.h"
#include "net/event_loop.h"
#include "net/raw_server_for_test.h"

namespace shepherd {

struct SeenRequest {
  std::string head, body;
  std::string target() const { return head.substr(0, head.find(" HTTP/")); }
};

struct ScriptedReply {
  std::string bytes;  // of the whole response; empty: the connection just ends
  bool hold = false;  // the connection stays open afterwards
};

inline ScriptedReply http_reply(int status, const std::string& body, const std::string& headers = "") {
  return {"HTTP/1.1 " + std::to_string(status) + " X\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body,
          false};
}
// Some of a body that has no end yet.
inline ScriptedReply http_begin(const std::string& body) {
  return {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n" + body, true};
}

// Answers request after request, one connection each, on a thread of its own. Threads: any.
class ScriptedBackend {
 public:
  using Choose = std::function<ScriptedReply(const SeenRequest& request, std::size_t number)>;

  explicit ScriptedBackend(Choose choose) : choose_(std::move(choose)), thread_([this] { serve(); }) {}
  ~ScriptedBackend() {
    stop_ = true;
    thread_.join();
  }

  std::string url(const std::string& path = "/v1") const {
    return "http://127.0.0.1:" + std::to_string(server_.port()) + path;
  }
  std::vector<SeenRequest> seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  // The number-th connection that was held was closed by the other side.
  bool held_was_closed(std::size_t number) {
    std::shared_ptr<net::RawPeer> peer = held(number);
    return peer != nullptr && peer->at_end();
  }
  void send_held(std::size_t number, const std::string& bytes) {
    if (auto peer = held(number)) peer->send(bytes);
  }
  // Requests for an answer of a chat.
  std::size_t chats() {
    std::size_t count = 0;
    for (const SeenRequest& request : seen()) count += request.target().starts_with("POST") ? 1 : 0;
    return count;
  }

 private:
  void serve() {
    while (!stop_) {
      if (server_.nobody_connects()) {
        ::poll(nullptr, 0, 1);
        continue;
      }
      auto peer = server_.accept();
      SeenRequest request;
      if (!read(*peer, request)) continue;
      std::size_t number = 0;
      {
        std::lock_guard lock(mutex_);
        number = seen_.size();
        seen_.push_back(request);
      }
      ScriptedReply reply = choose_(request, number);
      peer->send(reply.bytes);
      std::lock_guard lock(mutex_);
      if (reply.hold) held_.push_back(std::move(peer));
    }
  }
  std::shared_ptr<net::RawPeer> held(std::size_t number) {
    for (int look = 0; look < net::kRawPatienceMs; ++look) {
      {
        std::lock_guard lock(mutex_);
        if (number < held_.size()) return held_[number];
      }
      ::poll(nullptr, 0, 1);
    }
    return nullptr;
  }
  static bool read(net::RawPeer& peer, SeenRequest& request) {
    std::string bytes;
    std::size_t size = std::string::npos;
    while (bytes.size() < size) {
      char buffer[16'384];
      pollfd ready{.fd = peer.fd(), .events = POLLIN, .revents = 0};
      if (::poll(&ready, 1, net::kRawPatienceMs) <= 0) return false;
      ssize_t got = ::recv(peer.fd(), buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      bytes.append(buffer, static_cast<std::size_t>(got));
      std::size_t end = bytes.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      std::size_t at = bytes.find("Content-Length: ");
      size = end + 4 + (at < end ? std::stoul(bytes.substr(at + 16)) : 0);
      request.head = bytes.substr(0, end);
    }
    request.body = bytes.substr(request.head.size() + 4);
    return true;
  }

  net::RawServer server_;
  const Choose choose_;
  std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::vector<std::shared_ptr<net::RawPeer>> held_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last, so that it finds the rest
};

// Threads: strand.
class AnswerRecorder final : public ModelObserver {
 public:
  void on_text(std::string_view piece) override {
    text += piece;
    if (when_text) when_text();
  }
  void on_reasoning(std::string_view piece) override { reasoning += piece; }
  void on_retry(std::string_view why) override { retries.emplace_back(why); }
  void on_end(Result<ModelAnswer> answer) override {
    ++ends;
    end = std::move(answer);
    if (when_end) when_end();
  }
  std::string reason() const { return end ? "" : end.error().reason; }
  std::string message() const { return end ? "" : end.error().message; }

  std::string text, reasoning;
  std::vector<std::string> retries;
  int ends = 0;
  Result<ModelAnswer> end;
  std::function<void()> when_text, when_end;
};

// A loop that the test turns. Threads: caller.
class LoopFixture : public ::testing::Test {
 protected:
  template <class Fact>
  bool run_until(Fact fact) {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!fact()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop.turn(std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
    }
    return true;
  }

  net::EventLoop loop;
  ManualClock clock;
  SeededRandom random{7};
};

inline ModelRequest small_request() {
  ModelRequest request;
  request.messages.emplace_back().content = "Hi";
  return request;
}

}  // namespace shepherd
