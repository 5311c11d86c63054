// A real server on a free loopback port that plays scripted answers, one for each request, and records the requests.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "net/server.h"
#include "net/websocket_frame.h"

namespace shepherd {

// The answer to a connection: a plain response, or (for a WebSocket upgrade with `status` 101) messages and then a
// close code. With `turns`, each message of the client gets the next of them, and the close code follows the last.
struct Answer {
  int status = 101;
  std::string body;
  std::vector<std::string> messages;
  std::vector<std::vector<std::string>> turns;
  std::uint16_t close = 1006;  // 1006 ends the stream without a close frame
  std::vector<std::pair<std::string, std::string>> headers;
  bool hold = false;  // stays open after the messages and sends nothing more
};

inline Answer play(std::vector<std::string> messages, std::uint16_t close) {
  Answer answer;
  answer.messages = std::move(messages);
  answer.close = close;
  return answer;
}

inline Answer converse(std::vector<std::vector<std::string>> turns, std::uint16_t close) {
  Answer answer;
  answer.turns = std::move(turns);
  answer.close = close;
  return answer;
}

inline Answer reply(int status, std::string body) {
  Answer answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

class ScriptedServer final : public net::HttpHandler {
 public:
  ScriptedServer() : io_(1) {
    net::ListenOptions options;
    options.address = "127.0.0.1:0";
    options.name = "scripted";
    auto listening = net::HttpServer::listen(io_, std::move(options), *this, clock_, metrics_);
    EXPECT_TRUE(listening) << listening.error().message;
    if (listening) server_ = *std::move(listening);
  }
  ~ScriptedServer() override {
    if (server_) server_->shutdown(0);
  }

  std::string url() const { return server_->url(); }
  void then(Answer answer) {
    MutexLock lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  std::vector<net::Request> requests() {
    MutexLock lock(mutex_);
    return requests_;
  }
  // What clients have sent on WebSockets.
  std::vector<std::string> messages() {
    MutexLock lock(mutex_);
    return messages_;
  }
  std::vector<std::string> targets() {
    std::vector<std::string> targets;
    for (const net::Request& request : requests()) targets.push_back(request.target);
    return targets;
  }

  net::Admission admit(const net::Request&) override { return {1 << 20, {}}; }
  net::Response protocol_error(int status, std::string_view reason, std::string_view) override {
    net::Response response;
    response.status = status;
    response.content_type = "text/plain";
    response.body = reason;
    return response;
  }
  void handle(net::Request&& request, net::Responder responder) override {
    Answer answer = reply(500, "nothing was prepared for this request");
    {
      MutexLock lock(mutex_);
      requests_.push_back(request);
      if (!answers_.empty()) {
        answer = std::move(answers_.front());
        answers_.pop_front();
      }
    }
    if (answer.status == 101) return responder.upgrade("", {}, std::make_shared<Player>(*this, std::move(answer)));
    net::Response response;
    response.status = answer.status;
    response.content_type = "application/json";
    response.headers = std::move(answer.headers);
    response.body = std::move(answer.body);
    responder.send(std::move(response));
  }

 private:
  class Player final : public net::StreamHandler {
   public:
    Player(ScriptedServer& server, Answer answer) : server_(server), answer_(std::move(answer)) {}
    void on_open(net::StreamConnection& connection) override {
      connection_ = &connection;
      say(answer_.messages);
      if (!answer_.hold && answer_.turns.empty()) connection.finish(answer_.close, "as scripted");
    }
    void on_drained() override {}
    void on_tick(std::int64_t) override {}
    void on_message(std::string_view text) override {
      {
        MutexLock lock(server_.mutex_);
        server_.messages_.emplace_back(text);
      }
      if (turn_ == answer_.turns.size()) return;
      say(answer_.turns[turn_]);
      if (++turn_ == answer_.turns.size() && !answer_.hold) connection_->finish(answer_.close, "as scripted");
    }
    void on_shutdown() override {}
    void on_close(net::CloseCause) override {}

   private:
    void say(const std::vector<std::string>& messages) {
      std::string bytes;
      for (const std::string& message : messages) net::append_frame(bytes, net::Opcode::text, message);
      std::vector<ByteSpan> spans{own_bytes(std::move(bytes))};
      connection_->write(spans);
    }

    ScriptedServer& server_;
    Answer answer_;
    net::StreamConnection* connection_ = nullptr;
    std::size_t turn_ = 0;
  };

  SystemClock clock_;
  MetricRegistry metrics_;
  net::IoThreads io_;
  std::unique_ptr<net::HttpServer> server_;
  Mutex mutex_;
  std::deque<Answer> answers_ GUARDED_BY(mutex_);
  std::vector<net::Request> requests_ GUARDED_BY(mutex_);
  std::vector<std::string> messages_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
