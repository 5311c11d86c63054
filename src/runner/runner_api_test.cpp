#include "runner/runner_api.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "client/scripted_server_for_test.h"
#include "outbox/event_sink.h"
#include "process/test_agents.h"
#include "runner/lease_keeper.h"

namespace shepherd {
namespace {

// Accepts connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* name = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), name, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    EXPECT_EQ(::getsockname(socket_.get(), name, &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& url() const { return url_; }
  // Waits for a question; its connection.
  Descriptor asked() {
    Descriptor connection(::accept(socket_.get(), nullptr, nullptr));
    char byte = 0;
    EXPECT_EQ(::read(connection.get(), &byte, 1), 1) << "the question is on its way";
    return connection;
  }

 private:
  Descriptor socket_;
  std::string url_;
};

class RunnerApiTest : public ::testing::Test {
 protected:
  Locate locate() {
    return [this]() -> Result<Destination> { return Destination{server_.url(), server_.url(), "secret"}; };
  }

  ScriptedServer server_;
  SystemClock clock_;
};

TEST_F(RunnerApiTest, AClaimAsTheServerWantsIt) {
  server_.then(reply(200, R"({"taskID":"t","leaseEpoch":7,"leaseSeconds":30})"));
  server_.then(reply(204, ""));
  server_.then(reply(409, R"({"code":"already_claimed","detail":"somebody has it"})"));
  RunnerApi api(locate());
  auto claim = api.claim({"r", {"claude", "text"}, {{"team", "a\"b"}}, 20, ""});
  ASSERT_TRUE(claim) << claim.error().message;
  ASSERT_TRUE(*claim);
  EXPECT_EQ((*claim)->task, "t");
  EXPECT_EQ((*claim)->epoch, 7);
  EXPECT_EQ((*claim)->seconds, 30);
  EXPECT_EQ(server_.requests()[0].body,
            R"({"runner":"r","agents":["claude","text"],"labels":{"team":"a\"b"},"wait":20})");
  EXPECT_EQ(server_.requests()[0].header("authorization"), "Bearer secret");
  auto nothing = api.claim({"r", {}, {}, 0, "t"});
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  EXPECT_EQ(server_.requests()[1].body, R"({"runner":"r","agents":[],"wait":0,"taskID":"t"})");
  EXPECT_EQ(api.claim({"r", {}, {}, 0, "t"}).error().reason, "already_claimed");
}

// The lease lets the server check whether the task is still this runner's.
TEST_F(RunnerApiTest, WhatARunnerAsksAndPostsNamesItsLease) {
  server_.then(reply(200, R"({"token":"x"})"));
  for (int i = 0; i < 3; ++i) server_.then(reply(200, "{}"));
  RunnerApi api(locate());
  ASSERT_TRUE(api.token({"t", 7, 30}));
  ASSERT_TRUE(api.end_unstarted({"t", 7, 30}, State::failed, "no such repository"));
  std::unique_ptr<EventSink> sink = make_server_sink(locate(), {}, 7);
  [[maybe_unused]] auto posted = sink->post_events("t", "{}\n", "p");
  [[maybe_unused]] auto shown = sink->post_deltas("t", "[]");
  ASSERT_EQ(server_.requests().size(), 4u);
  for (const auto& request : server_.requests()) EXPECT_EQ(request.header("shepherd-lease"), "7") << request.target;
}

TEST_F(RunnerApiTest, ATasksData) {
  server_.then(reply(200,
                     R"({"id":"t","description":"d","agent":"claude","mode":"autonomous","maxTurns":3,"budget":1.5,)"
                     R"("timeout":60,"allowedTools":["Read"],"command":["a","b"],"repo":{"url":"u","ref":"r"},)"
                     R"("mcpServers":{"x": {}},"resumeSession":"s","unknown":1})"));
  RunnerApi api(locate());
  auto order = api.order("t");
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->task, "t");
  EXPECT_EQ(order->mode, AgentMode::autonomous);
  EXPECT_EQ(order->max_turns, 3);
  EXPECT_EQ(order->budget_usd, 1.5);
  EXPECT_EQ(order->timeout_seconds, 60);
  EXPECT_EQ(order->allowed_tools, std::vector<std::string>{"Read"});
  EXPECT_EQ(order->command, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(order->repo_url, "u");
  EXPECT_EQ(order->repo_ref, "r");
  EXPECT_EQ(order->mcp_servers_json, R"({"x":{}})");
  EXPECT_EQ(order->resume_session, "s");
  EXPECT_FALSE(decode_task_order("[]"));
  EXPECT_FALSE(decode_task_order("{"));
}

TEST_F(RunnerApiTest, ALongQuestionCanBeGivenUp) {
  SilentServer silent;
  std::string url = silent.url();
  RunnerApi api([&]() -> Result<Destination> { return Destination{url, url, ""}; });
  std::string reason;
  std::thread asking([&] {
    auto claim = api.claim({"r", {}, {}, 20, ""});
    if (!claim) reason = claim.error().reason;
  });
  Descriptor asked = silent.asked();
  auto before = std::chrono::steady_clock::now();
  api.cancel();
  asking.join();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  EXPECT_EQ(reason, "cancelled");
  EXPECT_EQ(api.claim({"r", {}, {}, 20, ""}).error().reason, "cancelled");
}

TEST_F(RunnerApiTest, ALostLeaseIsToldOnce) {
  server_.then(reply(200, R"({"leaseEpoch":7,"leaseSeconds":1})"));
  server_.then(reply(503, R"({"code":"busy","detail":"later"})"));
  server_.then(reply(409, R"({"code":"lease_lost","detail":"it is gone"})"));
  std::atomic<int> lost = 0;
  LeaseKeeper keeper(locate(), {}, "r", clock_);
  KeptLease lease(keeper, {"t", 7, 1});
  lease.when_lost([&] { ++lost; });
  EXPECT_TRUE(eventually([&] { return lost == 1; }));
  auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].method, "PUT");
  EXPECT_EQ(requests[0].target, "/api/v1/tasks/t/lease");
  EXPECT_EQ(requests[0].body, R"({"runner":"r","leaseEpoch":7})");
  lease.told_lost();
  lease.drop();
  EXPECT_EQ(lost, 1);
}

// The lease is lost between the claim and the agent's start, reported by a post under it.
TEST_F(RunnerApiTest, ALeaseThatIsLostBeforeAnybodyAsksIsToldToWhoAsks) {
  std::atomic<int> lost = 0;
  LeaseKeeper keeper(locate(), {}, "r", clock_);
  KeptLease lease(keeper, {"t", 7, 600});
  keeper.told_lost("t", 6);
  lease.when_lost([&] { ++lost; });
  EXPECT_EQ(lost, 0) << "that was another one";
  KeptLease early(keeper, {"u", 8, 600});
  early.told_lost();
  early.when_lost([&] { ++lost; });
  EXPECT_EQ(lost, 1);
  EXPECT_TRUE(server_.requests().empty()) << "nothing was due";
}

TEST_F(RunnerApiTest, WhatWasGivenUpCanBeAskedAgain) {
  server_.then(reply(204, ""));
  RunnerApi api(locate());
  api.cancel();
  EXPECT_EQ(api.claim({"r", {}, {}, 0, ""}).error().reason, "cancelled");
  api.resume();
  EXPECT_TRUE(api.claim({"r", {}, {}, 0, ""}));
}

// A renewal that gets no answer delays no other.
TEST_F(RunnerApiTest, ARenewalThatHangsDelaysNoOther) {
  SilentServer silent;
  std::atomic<int> looked_up = 0;
  auto first_silent = [&]() -> Result<Destination> {
    std::string url = looked_up++ == 0 ? silent.url() : server_.url();
    return Destination{url, url, ""};
  };
  for (int i = 0; i < 100; ++i) server_.then(reply(200, "{}"));
  LeaseKeeper keeper(first_silent, {}, "r", clock_);
  KeptLease hangs(keeper, {"hangs", 7, 1});
  Descriptor asked = silent.asked();
  std::int64_t begin_ms = clock_.steady_ms();
  KeptLease other(keeper, {"other", 8, 1});
  EXPECT_TRUE(eventually([&] { return std::ranges::count(server_.targets(), "/api/v1/tasks/other/lease") > 0; }));
  EXPECT_LT(clock_.steady_ms() - begin_ms, kLeaseRenewTimeout.count() / 2);
}

TEST_F(RunnerApiTest, ADroppedLeaseIsNotRenewed) {
  LeaseKeeper keeper(locate(), {}, "r", clock_);
  {
    KeptLease lease(keeper, {"t", 7, 1});
    lease.when_lost([] { ADD_FAILURE() << "nobody lost it"; });
  }
  server_.then(reply(200, "{}"));
  KeptLease other(keeper, {"u", 8, 1});
  EXPECT_TRUE(eventually([&] { return !server_.requests().empty(); }));
  EXPECT_EQ(server_.requests()[0].target, "/api/v1/tasks/u/lease");
}

}  // namespace
}  // namespace shepherd
