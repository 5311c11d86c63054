#include "client/live_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "client/scripted_server_for_test.h"

namespace shepherd {
namespace {

std::string event(int sequence, const std::string& task = "t", const std::string& cursor = "") {
  return R"({"type":"task_event","taskID":")" + task + "\"," +
         (cursor.empty() ? "" : R"("cursor":")" + cursor + "\",") + R"("data":{"sequence":)" +
         std::to_string(sequence) + R"(,"type":"log","summary":"s"}})";
}
std::string said(const std::string& type, const std::string& data) {
  return R"({"type":")" + type + R"(","taskID":"t","data":)" + data + "}";
}
const std::string kComplete = said("task_complete", R"({"taskID":"t","status":"completed"})");

class Recorder final : public LiveObserver {
 public:
  bool on_event(std::string_view task, std::uint64_t sequence, std::string_view) override {
    events.push_back(std::string(task) + ":" + std::to_string(sequence));
    return events.size() < stop_after;
  }
  void on_gap(std::string_view, std::uint64_t from, std::uint64_t to) override {
    events.push_back("gap " + std::to_string(from) + "-" + std::to_string(to));
  }
  void on_state(const LiveChange& change) override {
    constexpr const char* kNames[] = {"connected", "live", "disconnected"};
    states.push_back(kNames[static_cast<int>(change.state)]);
  }
  void on_complete(std::string_view task, std::string_view) override { completed.emplace_back(task); }

  std::size_t stop_after = 1'000;
  std::vector<std::string> events, states, completed;
};

class LiveClientTest : public testing::Test {
 protected:
  Result<bool> run(LiveOptions options) {
    LiveClient client([this]() -> Result<Destination> { return Destination{server_.url(), server_.url(), "secret"}; },
                      std::move(options), clock_, random_);
    return client.run(seen_);
  }
  static LiveOptions one_task() {
    LiveOptions options;
    options.task = "t";
    return options;
  }

  ScriptedServer server_;
  SystemClock clock_;
  SeededRandom random_{1};
  Recorder seen_;
};

using Words = std::vector<std::string>;

TEST_F(LiveClientTest, ReplaysThenGoesLiveThenEnds) {
  server_.then(play({event(1), event(2), said("caught_up", R"({"sequence":2})"), event(3), kComplete}, 1000));
  Result<bool> end = run(one_task());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_TRUE(*end);
  EXPECT_EQ(seen_.events, (Words{"t:1", "t:2", "t:3"}));
  EXPECT_EQ(seen_.states, (Words{"connected", "live"}));
  EXPECT_EQ(seen_.completed, (Words{"t"}));
  EXPECT_EQ(server_.targets(), (Words{"/api/v1/tasks/t/events?after=0"}));
  EXPECT_EQ(server_.requests().front().header("authorization"), "Bearer secret");
}

TEST_F(LiveClientTest, ResumesAfterTheLastNumberItSaw) {
  server_.then(play({event(1), event(2)}, 1001));
  server_.then(play({}, 4000));
  server_.then(reply(503, R"({"code":"busy","detail":"later"})"));
  server_.then(play({event(3), kComplete}, 1000));
  Result<bool> end = run(one_task());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(seen_.events, (Words{"t:1", "t:2", "t:3"}));
  EXPECT_EQ(seen_.states, (Words{"connected", "disconnected", "connected", "disconnected", "connected"}));
  EXPECT_EQ(server_.targets(), (Words{"/api/v1/tasks/t/events?after=0", "/api/v1/tasks/t/events?after=2",
                                      "/api/v1/tasks/t/events?after=2", "/api/v1/tasks/t/events?after=2"}));
}

TEST_F(LiveClientTest, RepeatsAreDroppedAndHolesAreFetchedAgain) {
  server_.then(play({event(1), event(1), event(3)}, 1000));
  server_.then(play({event(2), event(3), kComplete}, 1000));
  Result<bool> end = run(one_task());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(seen_.events, (Words{"t:1", "t:2", "t:3"}));
}

TEST_F(LiveClientTest, AServerThatKeepsLeavingAHoleIsAnError) {
  for (int i = 0; i < 10; ++i) server_.then(play({event(2)}, 1001));
  Result<bool> end = run(one_task());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, "broken_sequence");
  EXPECT_TRUE(seen_.events.empty());
}

TEST_F(LiveClientTest, AnAnnouncedGapIsNotAHole) {
  server_.then(play({said("gap", R"({"from":1,"to":4})"), event(5), kComplete}, 1000));
  ASSERT_TRUE(run(one_task()));
  EXPECT_EQ(seen_.events, (Words{"gap 1-4", "t:5"}));
}

TEST_F(LiveClientTest, AFilteredCursorMovesByPositions) {
  server_.then(play({event(3), said("position", R"({"sequence":900})")}, 1001));
  server_.then(play({event(950), kComplete}, 1000));
  LiveOptions options = one_task();
  options.types = "log";
  ASSERT_TRUE(run(options));
  EXPECT_EQ(seen_.events, (Words{"t:3", "t:950"}));
  EXPECT_EQ(server_.targets().back(), "/api/v1/tasks/t/events?after=900&types=log");
}

TEST_F(LiveClientTest, ATailTurnsIntoACursor) {
  server_.then(play({event(41), event(42)}, 1001));
  server_.then(play({event(43), kComplete}, 1000));
  LiveOptions options = one_task();
  options.tail = 2;
  ASSERT_TRUE(run(options));
  EXPECT_EQ(server_.targets(), (Words{"/api/v1/tasks/t/events?tail=2", "/api/v1/tasks/t/events?after=42"}));
}

TEST_F(LiveClientTest, AllTasksResumeFromTheOpaqueCursor) {
  server_.then(play({event(7, "a", "c1"), event(1, "b", "c2"), said("task_complete", R"({"taskID":"b"})")}, 1001));
  server_.then(play({event(8, "a", "c3")}, 1001));
  server_.then(reply(401, R"({"code":"bad_token","detail":"unknown token"})"));
  Result<bool> end = run({});
  ASSERT_FALSE(end);
  EXPECT_EQ(seen_.events, (Words{"a:7", "b:1", "a:8"}));
  EXPECT_EQ(server_.targets(), (Words{"/api/v1/events", "/api/v1/events?after=c2", "/api/v1/events?after=c3"}));
}

TEST_F(LiveClientTest, RefusalsEndIt) {
  server_.then(reply(404, R"({"code":"unknown_task","detail":"there is no task t"})"));
  Result<bool> unknown = run(one_task());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_EQ(unknown.error().reason, "unknown_task");

  server_.then(play({event(1)}, 4101));
  Result<bool> revoked = run(one_task());
  ASSERT_FALSE(revoked);
  EXPECT_EQ(revoked.error().code, ErrorCode::unauthenticated);
}

TEST_F(LiveClientTest, TheListenerCanStopIt) {
  seen_.stop_after = 1;
  server_.then(play({event(1), event(2)}, 1000));
  Result<bool> end = run(one_task());
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_EQ(seen_.events, (Words{"t:1"}));
}

// A clock that runs ahead: every reading is 16 seconds later.
class HurryingClock final : public Clock {
 public:
  std::int64_t wall_ms() const override { return steady_ms(); }
  std::int64_t steady_ms() const override { return now_ms_ += 16'000; }

 private:
  mutable std::atomic<std::int64_t> now_ms_{0};
};

TEST_F(LiveClientTest, AServerThatFallsSilentIsLeft) {
  Answer silent = play({event(1)}, 1000);
  silent.hold = true;
  server_.then(silent);
  server_.then(play({event(2), kComplete}, 1000));
  HurryingClock hurrying;
  LiveClient client([this]() -> Result<Destination> { return Destination{server_.url(), server_.url(), ""}; },
                    one_task(), hurrying, random_);
  Result<bool> end = client.run(seen_);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(seen_.events, (Words{"t:1", "t:2"}));
  EXPECT_EQ(seen_.states, (Words{"connected", "disconnected", "connected"}));
}

TEST(LiveClient, NobodyThereAtFirstIsAnErrorThatSaysWhatToDo) {
  SystemClock clock;
  SeededRandom random(1);
  LiveOptions options;
  options.task = "t";
  // Nothing listens on port 1 of loopback.
  LiveClient client([]() -> Result<Destination> { return Destination{"http://127.0.0.1:1", "http://127.0.0.1:1", ""}; },
                    options, clock, random);
  Recorder seen;
  Result<bool> end = client.run(seen);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::unavailable);
  EXPECT_NE(end.error().message.find("shepherd serve"), std::string::npos) << end.error().message;
}

}  // namespace
}  // namespace shepherd
