// The API over real parts on free ports: servers, journal, memory store, access. For this folder's tests.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/api.h"
#include "base/lane_set.h"
#include "base/mutex.h"
#include "bus/bus.h"
#include "net/client.h"
#include "net/server.h"
#include "store/memory/memory_store.h"

namespace shepherd {

namespace json = boost::json;
using namespace std::chrono_literals;

// Keeps audit records for a test to read. Threads: any.
class AuditInMemory final : public Audit {
 public:
  void record(AuditRecord record) override {
    MutexLock lock(mutex_);
    records_.push_back(std::move(record));
  }
  std::vector<AuditRecord> records() const {
    MutexLock lock(mutex_);
    return records_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<AuditRecord> records_ GUARDED_BY(mutex_);
};

// The machine's time, and more of it when a test passes time. Threads: any.
class AheadClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return system_.wall_ms() + ahead_ms_; }
  std::int64_t steady_ms() const override { return system_.steady_ms() + ahead_ms_; }
  void advance_ms(std::int64_t by) { ahead_ms_ += by; }

 private:
  SystemClock system_;
  std::atomic<std::int64_t> ahead_ms_ = 0;
};

class ApiFixture : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Access::open(journal_, clock_, random_);
    ASSERT_TRUE(opened) << opened.error().message;
    access_ = std::move(*opened);
    admin_ = token("ada", Scope::admin);
    config_.version = "test";
    start();
  }

  void TearDown() override {
    stop();
    lanes_.reset();  // as the server does, because an active read posts to the io threads
  }

  void start() {
    SteeringParts steering{journal_, lanes_->feeds, clock_, random_, metrics_, &redactor_};
    auto opened = Steering::open(steering, steering_config_);
    ASSERT_TRUE(opened) << opened.error().message;
    steering_ = std::move(*opened);
    auto inbox = Inbox::open(journal_, lanes_->background, clock_);
    ASSERT_TRUE(inbox) << inbox.error().message;
    inbox_ = std::move(*inbox);
    ApiParts parts{journal_, *steering_, search_, indexer_,  inbox_.get(), ledger_, *access_, audit_,
                   metrics_, clock_,     random_, redactor_, condense_,    *lanes_, config_};
    api_ = std::make_unique<Api>(std::move(parts));
    public_ = listen("public", api_->public_handler());
    internal_ = listen("internal", api_->internal_handler());
  }

  void stop() {
    if (steering_ != nullptr) steering_->stop();
    if (inbox_ != nullptr) inbox_->stop();
    for (auto* server : {&public_, &internal_}) {
      if (*server != nullptr) (*server)->shutdown(5000);
    }
    public_.reset();
    internal_.reset();
    api_.reset();
    inbox_.reset();
    steering_.reset();
  }

  void restart_with(ApiConfig config) {
    stop();
    config_ = std::move(config);
    start();
  }

  std::unique_ptr<net::HttpServer> listen(const std::string& name, net::HttpHandler& handler) {
    net::ListenOptions options;
    options.address = "127.0.0.1:0";
    options.name = name;
    options.max_connections = 1000;
    auto server = net::HttpServer::listen(io_, std::move(options), handler, clock_, metrics_);
    EXPECT_TRUE(server) << server.error().message;
    return server ? std::move(*server) : nullptr;
  }

  NewToken make_token(const std::string& name, Scope scope, const std::string& task = "") {
    std::promise<Result<NewToken>> made;
    access_->create_token(name, scope, task, 0, [&](Result<NewToken> result) { made.set_value(std::move(result)); });
    auto result = made.get_future().get();
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
  std::string token(const std::string& name, Scope scope, const std::string& task = "") {
    return make_token(name, scope, task).secret;
  }

  static net::HeaderList bearer(const std::string& secret) {
    return secret.empty() ? net::HeaderList{} : net::HeaderList{{"Authorization", "Bearer " + secret}};
  }

  // Sends one request on its own connection. A body is JSON unless the headers say otherwise.
  net::ClientResponse call(net::HttpServer& server, const std::string& method, const std::string& target,
                           const std::string& body, net::HeaderList headers) {
    bool has_type = false;
    for (const auto& [name, value] : headers) has_type = has_type || name == "Content-Type";
    if (!body.empty() && !has_type) headers.emplace_back("Content-Type", "application/json");
    net::HttpClient client(*net::parse_url(server.url()));
    auto response = client.request(method, target, headers, body, 10s);
    EXPECT_TRUE(response) << method << " " << target << ": " << response.error().message;
    return response ? *response : net::ClientResponse{};
  }
  net::ClientResponse get(const std::string& target) { return call(*public_, "GET", target, "", bearer(admin_)); }
  net::ClientResponse post(const std::string& target, const std::string& body) {
    return call(*public_, "POST", target, body, bearer(admin_));
  }
  net::ClientResponse produce(const std::string& target, const std::string& body, net::HeaderList headers = {}) {
    headers.emplace_back("Authorization", "Bearer " + admin_);
    return call(*internal_, "POST", target, body, std::move(headers));
  }

  static json::value parsed(const net::ClientResponse& response) {
    boost::system::error_code error;
    json::value value = json::parse(response.body, error);
    EXPECT_FALSE(error) << response.status << ": " << response.body;
    return value;
  }
  static std::string code_of(const net::ClientResponse& response) {
    json::value value = parsed(response);
    return value.is_object() && value.as_object().contains("code") ? std::string(value.at("code").as_string()) : "";
  }

  void create(const std::string& id) {
    EXPECT_EQ(post("/api/v1/tasks", R"({"id":")" + id + R"(","prompt":"do it"})").status, 201);
  }
  // Appends `count` log events: "line 1", "line 2", …
  void append_lines(const std::string& id, int count, const std::string& type = "log") {
    std::string body = "[";
    for (int i = 1; i <= count; ++i) {
      body += (i == 1 ? "" : ",") + (R"({"type":")" + type + R"(","summary":"line )" + std::to_string(i) + "\"}");
    }
    EXPECT_EQ(produce("/api/v1/tasks/" + id + "/events", body + "]").status, 200);
  }
  void complete(const std::string& id) {
    EXPECT_EQ(produce("/api/v1/tasks/" + id + "/status", R"({"event":"completed","message":"done"})").status, 200);
  }

  Result<net::WebSocketClient> open_socket(const std::string& target, net::HeaderList headers) {
    return net::WebSocketClient::connect(*net::parse_url(public_->url() + target), headers, 10s);
  }
  net::WebSocketClient follow(const std::string& target) {
    auto socket = open_socket(target, bearer(admin_));
    EXPECT_TRUE(socket) << socket.error().message;
    return std::move(*socket);
  }
  // Returns the next message; an empty object if the stream closed or none came in time.
  static json::object next(net::WebSocketClient& socket) {
    auto text = socket.read(10s);
    if (!text || !*text) return {};
    return json::parse(**text).as_object();
  }
  // Returns the next message of that type and skips others.
  static json::object next(net::WebSocketClient& socket, std::string_view type) {
    for (;;) {
      json::object message = next(socket);
      if (message.empty() || message.at("type").as_string() == type) return message;
    }
  }
  static int close_code(net::WebSocketClient& socket) {
    while (!next(socket).empty()) {
    }
    return socket.closed() ? socket.closed()->code : -1;
  }

  AheadClock clock_;
  SystemRandom random_;
  MetricRegistry metrics_;
  std::atomic<Fault> fault_ = Fault::none;  // the server also writes by itself
  MemoryStore store_{[this] { return fault_.load(); }};
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  std::unique_ptr<Lanes> lanes_ = std::make_unique<Lanes>(metrics_);
  Journal journal_{store_, hub_, bus_, lanes_->feeds, clock_, metrics_};
  Redactor redactor_ = std::move(*Redactor::create({}));
  CondenseRules condense_;
  std::unique_ptr<Access> access_;
  AuditInMemory audit_;
  SearchIndex* search_ = nullptr;
  Indexer* indexer_ = nullptr;
  LedgerKeeper* ledger_ = nullptr;
  ApiConfig config_;
  SteeringConfig steering_config_;
  std::string admin_;
  net::IoThreads io_{2};
  std::unique_ptr<Steering> steering_;
  std::unique_ptr<Inbox> inbox_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<net::HttpServer> public_, internal_;
  // Ticks as the server does: releases events that wait for predecessors or for silence.
  std::jthread ticks_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      journal_.tick();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }};
};

}  // namespace shepherd
