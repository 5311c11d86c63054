#include "runner/lease_keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>

#include "client/scripted_server_for_test.h"
#include "process/test_agents.h"
#include "runner/silent_server_for_test.h"

namespace shepherd {
namespace {

using Present = LeaseKeeper::Present;

class LeaseKeeperTest : public ::testing::Test {
 protected:
  Locate locate() {
    return [this]() -> Result<Destination> { return Destination{server_.url(), server_.url(), "secret"}; };
  }
  static RunnerCard card() { return {"r", {"text"}, {}, 2, "1", "m"}; }
  void answer(const std::string& lost = "", int times = 1) {
    for (int i = 0; i < times; ++i) {
      server_.then(reply(200, R"({"presentSeconds":1,"leaseSeconds":1,"lost":[)" + lost + "]}"));
    }
  }
  // The `tasks` of each request that said the runner is there.
  std::vector<std::string> renewed() {
    std::vector<std::string> all;
    for (const net::Request& request : server_.requests()) {
      if (request.method == "PUT") all.push_back(request.body.substr(request.body.find("\"tasks\":") + 8));
    }
    return all;
  }
  bool renewed_times(std::size_t count) {
    return eventually([&] { return renewed().size() >= count; });
  }

  ScriptedServer server_;
  SystemClock clock_;
};

TEST_F(LeaseKeeperTest, ARunnerIsThereFromItsStartToItsEnd) {
  answer("", 2);
  server_.then(reply(204, ""));
  {
    LeaseKeeper keeper(locate(), {}, card(), Present::always, clock_);
    ASSERT_TRUE(renewed_times(2));
  }
  std::vector<net::Request> requests = server_.requests();
  EXPECT_EQ(requests[0].body, R"({"agents":["text"],"slots":2,"version":"1","machine":"m","tasks":[]})");
  EXPECT_EQ(requests.back().method + " " + requests.back().target, "DELETE /api/v1/runners/r");
}

TEST_F(LeaseKeeperTest, OneRequestRenewsAllLeases) {
  answer("", 100);
  LeaseKeeper keeper(locate(), {}, card(), Present::with_leases, clock_);
  KeptLease one(keeper, {"a", 7, 1});
  KeptLease other(keeper, {"b", 8, 1});
  ASSERT_TRUE(renewed_times(3));
  const std::string both = R"([{"taskID":"a","leaseEpoch":7},{"taskID":"b","leaseEpoch":8}]})";
  EXPECT_EQ(renewed()[0], both);
  EXPECT_EQ(renewed()[2], both);
  one.drop();
  std::size_t before = renewed().size();
  ASSERT_TRUE(renewed_times(before + 2));
  EXPECT_EQ(renewed()[before + 1], R"([{"taskID":"b","leaseEpoch":8}]})");
}

// A third of the shorter period, not of what the claim said.
TEST_F(LeaseKeeperTest, TheServersPeriodsCount) {
  answer("", 100);
  LeaseKeeper keeper(locate(), {}, card(), Present::always, clock_);
  ASSERT_TRUE(renewed_times(1));
  KeptLease lease(keeper, {"t", 7, 3'600});
  std::size_t before = renewed().size();
  EXPECT_TRUE(renewed_times(before + 3));
}

TEST_F(LeaseKeeperTest, WithoutLeasesNothingIsSaidIfTheyAreTheReason) {
  {
    LeaseKeeper keeper(locate(), {}, card(), Present::with_leases, clock_);
    KeptLease lease(keeper, {"t", 7, 600});
    lease.drop();
  }
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(LeaseKeeperTest, ALostLeaseIsToldOnceAndNotRenewed) {
  answer();
  server_.then(reply(503, R"({"code":"busy","detail":"later"})"));
  answer(R"("t","unknown")");
  answer(R"("t")", 100);
  std::atomic<int> lost = 0;
  LeaseKeeper keeper(locate(), {}, card(), Present::with_leases, clock_);
  KeptLease lease(keeper, {"t", 7, 1});
  KeptLease other(keeper, {"u", 8, 1});
  other.when_lost([] { ADD_FAILURE() << "it is not lost"; });
  lease.when_lost([&] { ++lost; });
  EXPECT_TRUE(eventually([&] { return lost == 1; }));
  ASSERT_TRUE(renewed_times(5));
  EXPECT_EQ(renewed()[4], R"([{"taskID":"u","leaseEpoch":8}]})");
  lease.told_lost();
  lease.drop();
  EXPECT_EQ(lost, 1);
}

// The run of a lost task may need its time to end; the others need their leases meanwhile.
TEST_F(LeaseKeeperTest, ARunThatHangsAtItsLossDelaysNoRenewal) {
  answer(R"("t")");
  answer("", 100);
  std::promise<void> release;
  LeaseKeeper keeper(locate(), {}, card(), Present::with_leases, clock_);
  KeptLease lease(keeper, {"t", 7, 1});
  KeptLease other(keeper, {"u", 8, 1});
  std::promise<void> hanging;
  lease.when_lost([&] {
    hanging.set_value();
    release.get_future().wait();
  });
  hanging.get_future().get();
  std::size_t before = renewed().size();
  EXPECT_TRUE(renewed_times(before + 2));
  release.set_value();
  lease.drop();
}

// The lease is lost between the claim and the agent's start, reported by a post under it.
TEST_F(LeaseKeeperTest, ALeaseThatIsLostBeforeAnybodyAsksIsToldToWhoAsks) {
  std::atomic<int> lost = 0;
  LeaseKeeper keeper(locate(), {}, card(), Present::with_leases, clock_);
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

// The answer is about the claims of its request: the task was dropped and claimed again meanwhile.
TEST_F(LeaseKeeperTest, ALossOfAnEarlierClaimIsNotTheNewOnes) {
  SilentServer slow;
  std::atomic<int> looked_up = 0;
  auto first_slow = [&]() -> Result<Destination> {
    std::string url = looked_up++ == 0 ? slow.url() : server_.url();
    return Destination{url, url, ""};
  };
  answer("", 100);
  LeaseKeeper keeper(first_slow, {}, card(), Present::with_leases, clock_);
  std::optional<KeptLease> lease;
  lease.emplace(keeper, TaskClaim{"t", 7, 1});
  Descriptor asked = slow.asked();
  lease.reset();
  lease.emplace(keeper, TaskClaim{"t", 8, 1});
  lease->when_lost([] { ADD_FAILURE() << "epoch 7 was lost"; });
  std::string text = R"({"presentSeconds":1,"leaseSeconds":1,"lost":["t"]})";
  text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) +
         "\r\nConnection: close\r\n\r\n" + text;
  ASSERT_EQ(::write(asked.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  asked.reset();
  ASSERT_TRUE(renewed_times(1));
  EXPECT_EQ(renewed()[0], R"([{"taskID":"t","leaseEpoch":8}]})");
}

TEST_F(LeaseKeeperTest, ARequestWithoutAnAnswerIsGivenUpAndRepeated) {
  SilentServer silent;
  std::atomic<int> looked_up = 0;
  auto first_silent = [&]() -> Result<Destination> {
    std::string url = looked_up++ == 0 ? silent.url() : server_.url();
    return Destination{url, url, ""};
  };
  answer("", 100);
  LeaseKeeper keeper(first_silent, {}, card(), Present::with_leases, clock_);
  KeptLease lease(keeper, {"t", 7, 1});
  Descriptor asked = silent.asked();
  std::int64_t begin_ms = clock_.steady_ms();
  EXPECT_TRUE(renewed_times(1));
  EXPECT_LT(clock_.steady_ms() - begin_ms, kLeaseRenewTimeout.count()) << "a short lease cannot wait that long";
}

TEST_F(LeaseKeeperTest, TheEndDoesNotWaitForASilentServer) {
  SilentServer silent;
  std::string url = silent.url();
  std::int64_t begin_ms = 0;
  {
    LeaseKeeper keeper([&]() -> Result<Destination> { return Destination{url, url, ""}; }, {}, card(), Present::always,
                       clock_);
    Descriptor asked = silent.asked();
    begin_ms = clock_.steady_ms();
  }
  EXPECT_LT(clock_.steady_ms() - begin_ms, kLeaseRenewTimeout.count());
}

TEST_F(LeaseKeeperTest, AServerThatDoesNotKnowRunnersIsAskedAgain) {
  server_.then(reply(404, R"({"code":"not_found","detail":"no such route"})"));
  answer();
  LeaseKeeper keeper(locate(), {}, card(), Present::always, clock_);
  EXPECT_TRUE(renewed_times(2));
}

}  // namespace
}  // namespace shepherd
