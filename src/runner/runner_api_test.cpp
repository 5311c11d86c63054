#include "runner/runner_api.h"

#include <gtest/gtest.h>

#include <thread>

#include "client/scripted_server_for_test.h"
#include "outbox/event_sink.h"
#include "process/test_agents.h"
#include "runner/silent_server_for_test.h"

namespace shepherd {
namespace {

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

TEST_F(RunnerApiTest, APresenceAsTheServerWantsIt) {
  server_.then(reply(200, R"({"presentSeconds":60,"leaseSeconds":30,"lost":["t2"]})"));
  server_.then(reply(200, R"({"presentSeconds":60,"leaseSeconds":30,"lost":[]})"));
  server_.then(reply(200, "{}"));
  server_.then(reply(204, ""));
  RunnerApi api(locate());
  auto presence = api.present({"build 7", {"claude", "grpc"}, {{"zone", "a"}}, 4, "0.9.0", "build-7"},
                              {{"t1", 12, 30}, {"t2", 3, 30}}, 5s);
  ASSERT_TRUE(presence) << presence.error().message;
  EXPECT_EQ(presence->present_seconds, 60);
  EXPECT_EQ(presence->lease_seconds, 30);
  EXPECT_EQ(presence->lost, std::vector<std::string>{"t2"});
  net::Request put = server_.requests()[0];
  EXPECT_EQ(put.method + " " + put.target, "PUT /api/v1/runners/build%207");
  EXPECT_EQ(put.body,
            R"({"agents":["claude","grpc"],"labels":{"zone":"a"},"slots":4,"version":"0.9.0",)"
            R"("machine":"build-7","tasks":[{"taskID":"t1","leaseEpoch":12},{"taskID":"t2","leaseEpoch":3}]})");
  auto bare = api.present({"r", {}, {}, 0, "", ""}, {}, 5s);
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_TRUE(bare->lost.empty());
  EXPECT_EQ(server_.requests()[1].body, R"({"agents":[],"slots":0,"tasks":[]})");
  EXPECT_EQ(api.present({"r", {}, {}, 0, "", ""}, {}, 5s).error().reason, "bad_response");
  ASSERT_TRUE(api.leave("r", 1s));
  net::Request left = server_.requests()[3];
  EXPECT_EQ(left.method + " " + left.target, "DELETE /api/v1/runners/r");
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

TEST_F(RunnerApiTest, WhatWasGivenUpCanBeAskedAgain) {
  server_.then(reply(204, ""));
  RunnerApi api(locate());
  api.cancel();
  EXPECT_EQ(api.claim({"r", {}, {}, 0, ""}).error().reason, "cancelled");
  api.resume();
  EXPECT_TRUE(api.claim({"r", {}, {}, 0, ""}));
}

}  // namespace
}  // namespace shepherd
