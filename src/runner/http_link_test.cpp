// Tests of an HttpLink with a program that says where a real server of this process is.
#include "runner/http_link.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/base64.h"
#include "net/server_for_test.h"
#include "process/test_agents.h"

namespace shepherd {
namespace {

// Threads: the link's and the test's.
class ServiceHeard final : public AgentObserver {
 public:
  void on_output(AgentStream, std::string_view bytes) override {
    MutexLock lock(mutex_);
    printed_ += bytes;
  }
  void on_record(std::string_view record) override {
    MutexLock lock(mutex_);
    records_.emplace_back(record);
  }
  void on_end(const AgentEnd& end) override {
    MutexLock lock(mutex_);
    end_ = end;
  }
  bool has(std::string_view text) {
    return eventually([&] {
      MutexLock lock(mutex_);
      for (const auto& record : records_) {
        if (record.find(text) != std::string::npos) return true;
      }
      return printed_.find(text) != std::string::npos;
    });
  }
  std::vector<std::string> records() {
    MutexLock lock(mutex_);
    return records_;
  }
  std::optional<AgentEnd> end() {
    eventually([&] {
      MutexLock lock(mutex_);
      return end_.has_value();
    });
    MutexLock lock(mutex_);
    return end_;
  }

 private:
  Mutex mutex_;
  std::string printed_ GUARDED_BY(mutex_);
  std::vector<std::string> records_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
};

class HttpLinkTest : public ::testing::Test {
 protected:
  HttpLinkTest() {
    server_.handler.on_request = [this](net::Request&& request, net::Responder responder) {
      {
        MutexLock lock(mutex_);
        seen_.push_back(request.method + " " + request.target + " " + request.body);
        authorization_ = request.header("authorization");
      }
      if (request.target == "/events") {
        auto stream = std::make_shared<net::StreamProbe>();
        stream->when_open = [](net::StreamConnection& connection) {
          ByteSpan bytes = own_bytes(": a comment\n\ndata: {\"beat\":1}\n\ndata: {\"first\":1}\n\n");
          connection.write(std::span(&bytes, 1));
        };
        {
          MutexLock lock(mutex_);
          stream_ = stream;
        }
        return responder.stream({200, "text/event-stream", {}, "", false}, stream);
      }
      responder.send({request.target == "/bad" ? 500 : 200, "application/json", {}, R"({"done":true})", false});
    };
    server_.start();
  }
  ~HttpLinkTest() override {
    link_.reset();
    EXPECT_TRUE(carriers_of(mark_).empty()) << "somebody of the agent is left";
  }

  void run(const std::string& script) {
    AgentSpec spec;
    spec.command = {"sh", "-c", script};
    spec.environment = {"PATH=/usr/bin:/bin", "SHEPHERD_TEST_MARK=" + mark_};
    spec.directory = std::filesystem::temp_directory_path();
    spec.warden_program = MISBEHAVING_AGENT;
    HttpLaunch service;
    service.ready = "listening on ";
    service.user = "me";
    service.password_variable = "THE_PASSWORD";
    service.events = "/events";
    service.heartbeat = "\"beat\"";
    auto link = HttpLink::start(spec, service, heard_, clock_);
    ASSERT_TRUE(link) << link.error().message;
    link_ = *std::move(link);
  }
  std::string address() { return "http://127.0.0.1:" + std::to_string(server_.server->port()); }
  std::vector<std::string> seen() {
    MutexLock lock(mutex_);
    return seen_;
  }

  net::TestServer server_;
  SystemClock clock_;
  std::string mark_ = fresh_mark();
  Mutex mutex_;
  std::vector<std::string> seen_ GUARDED_BY(mutex_);
  std::string authorization_ GUARDED_BY(mutex_);
  std::shared_ptr<net::StreamProbe> stream_ GUARDED_BY(mutex_);
  ServiceHeard heard_;
  std::unique_ptr<HttpLink> link_;
};

TEST_F(HttpLinkTest, EventsAndAnswersComeAndTheEndOfTheInputEndsTheService) {
  run("echo \"warming up, password=$THE_PASSWORD;\"; echo listening on " + address() + "; exec sleep 300");
  ASSERT_TRUE(
      link_->write(http_request_line({"1", "POST", "/a", R"({"x":1})"}) + http_request_line({"2", "GET", "/bad", ""})));
  EXPECT_TRUE(heard_.has("warming up")) << "what it prints is for the log";
  EXPECT_TRUE(heard_.has(R"({"answer":{"id":"2","request":"GET /bad","status":500,"body":{"done":true}}})"));
  EXPECT_TRUE(heard_.has(R"({"event":{"first":1}})"));
  EXPECT_FALSE(heard_.records().empty());
  for (const auto& record : heard_.records()) EXPECT_EQ(record.find("beat"), std::string::npos);
  auto asked = seen();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[0], "GET /events ");
  EXPECT_EQ(asked[1], R"(POST /a {"x":1})") << "in the order in which they were written";
  {
    MutexLock lock(mutex_);
    ASSERT_TRUE(authorization_.starts_with("Basic "));
    std::string encoded = authorization_.substr(6);
    EXPECT_EQ(encoded.size() % 4, 0U) << "services insist on the padding";
    auto credentials = decode_base64(encoded);
    ASSERT_TRUE(credentials);
    EXPECT_TRUE(heard_.has("password=" + credentials->substr(3) + ";")) << "the service was given the same";
  }
  link_->close_input();
  auto end = heard_.end();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit.code, 0);
  EXPECT_EQ(end->exit.signal, 0);
  EXPECT_EQ(end->rung, StopRung::none) << "that is how a service ends, not how it is forced";
  EXPECT_FALSE(link_->write("{}\n"));
}

TEST_F(HttpLinkTest, TheFirstRungIsTheDriversAndTheNextComesWhenItHasWorked) {
  run("echo listening on " + address() + "; exec sleep 300");
  ASSERT_TRUE(heard_.has("\"open\""));
  StopPlan plan;
  plan.interrupt = [this] { return link_->write(http_request_line({"9", "POST", "/abort", ""})).has_value(); };
  plan.interrupt_wait = std::chrono::minutes(10);
  link_->stop(plan);
  EXPECT_TRUE(heard_.has(R"("id":"9")"));
  link_->close_input();  // as a driver does when the answer has come
  auto end = heard_.end();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->by_ladder());
}

TEST_F(HttpLinkTest, AServiceThatEndsByItselfHasItsOwnEnd) {
  run("echo cannot begin >&2; exit 3");
  auto end = heard_.end();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit.code, 3);
  EXPECT_EQ(end->rung, StopRung::none);
  EXPECT_TRUE(heard_.has("cannot begin"));
}

TEST_F(HttpLinkTest, AStreamThatEndsIsTheEnd) {
  run("echo listening on " + address() + "; exec sleep 300");
  ASSERT_TRUE(heard_.has("\"first\""));
  std::shared_ptr<net::StreamProbe> stream;
  {
    MutexLock lock(mutex_);
    stream = stream_;
  }
  stream->run([](net::StreamConnection& connection) { connection.finish(1000, ""); });
  auto end = heard_.end();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit.code, 1);
  EXPECT_TRUE(heard_.has("ended its stream of events"));
}

TEST_F(HttpLinkTest, AnAddressThatIsNoneIsTheEnd) {
  run("echo listening on the moon; exec sleep 300");
  auto end = heard_.end();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit.code, 1);
  EXPECT_TRUE(heard_.has("which is no address"));
}

}  // namespace
}  // namespace shepherd
