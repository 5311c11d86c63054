#include "net/body_budget.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "net/server_for_test.h"

namespace shepherd::net {
namespace {

using Outcome = BodyBudget::Outcome;

TEST(BodyBudget, BoundsACallerAndAll) {
  auto budget = std::make_shared<BodyBudget>(100, 150);
  {
    BodyShare first(budget), second(budget), third(budget);
    EXPECT_EQ(first.grow_to(60, "a"), Outcome::taken);
    EXPECT_EQ(second.grow_to(40, "a"), Outcome::taken);
    EXPECT_EQ(second.grow_to(41, "a"), Outcome::caller_full);
    EXPECT_EQ(third.grow_to(50, "b"), Outcome::taken);
    EXPECT_EQ(third.grow_to(51, "b"), Outcome::all_full);
    EXPECT_EQ(budget->taken(), 150U);
    first.give_back();
    EXPECT_EQ(third.grow_to(51, "b"), Outcome::taken);
    EXPECT_EQ(second.grow_to(90, "a"), Outcome::taken);
  }
  EXPECT_EQ(budget->taken(), 0U);
}

// The peer disconnects while its request is handled, then the server stops, and only then the request is released.
TEST(BodyBudget, ARequestThatOutlivesItsServerGivesItsShareBack) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Responder> kept;
  auto test = std::make_unique<TestServer>();
  test->handler.on_request = [&](Request&&, Responder responder) {
    std::lock_guard lock(mutex);
    kept.emplace(std::move(responder));
    changed.notify_all();
  };
  test->start();
  {
    RawClient client(test->server->port());
    ASSERT_TRUE(
        client.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + std::string(300'000, 'x')));
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kTestPatience, [&] { return kept.has_value(); }));
  }
  test->server->shutdown(0);
  test->server.reset();
  kept.reset();
}

std::string begun(const std::string& caller, std::size_t bytes) {
  return "POST /p HTTP/1.1\r\nHost: x\r\nCaller: " + caller + "\r\nContent-Length: 900000\r\n\r\n" +
         std::string(bytes, 'x');
}

// The server reads connections in any order and may refuse any of the requests that do not fit. Removes the refused
// one.
RawResponse refused_of(std::vector<RawClient*>& clients) {
  std::vector<pollfd> all;
  for (const RawClient* client : clients) all.push_back({client->fd(), POLLIN, 0});
  ::poll(all.data(), all.size(), static_cast<int>(std::chrono::milliseconds(kTestPatience).count()));
  auto answered = std::ranges::find_if(all, [](const pollfd& each) { return each.revents != 0; });
  if (answered == all.end()) return {};
  auto refused = clients.begin() + (answered - all.begin());
  RawResponse response = (*refused)->read_response();
  clients.erase(refused);
  return response;
}

TEST(BodyBudget, UnfinishedRequestsOfOneCallerAreRefusedAndOthersAreNot) {
  TestServer test;
  test.options.max_caller_body_bytes = 300'000;
  test.options.max_all_body_bytes = 450'000;
  test.handler.on_admit = [](const Request& request) {
    return Admission{1 << 20, {}, std::string(request.header("caller"))};
  };
  test.start();
  std::vector<std::unique_ptr<RawClient>> open;
  auto begin = [&](const std::string& caller, std::size_t bytes) -> RawClient& {
    open.push_back(std::make_unique<RawClient>(test.server->port()));
    EXPECT_TRUE(open.back()->send(begun(caller, bytes)));
    return *open.back();
  };
  std::vector<RawClient*> unfinished{&begin("a", 200'000), &begin("a", 200'000)};
  RawResponse refused = refused_of(unfinished);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body, "too_many_unfinished_requests");
  EXPECT_NE(refused.head.find("Connection: close"), std::string::npos);
  // The rest of caller a may have been refused, too: its bytes count until the first refusal is written. So these two
  // are too many without it.
  std::vector<RawClient*> others{&begin("b", 250'000), &begin("c", 250'000)};
  EXPECT_EQ(refused_of(others).status, 503) << "all have too many together";
  // A body that arrives with its head is never counted.
  RawClient small(test.server->port());
  ASSERT_TRUE(small.send("POST /p HTTP/1.1\r\nHost: x\r\nCaller: a\r\nContent-Length: 2\r\n\r\nhi"));
  EXPECT_EQ(small.read_response().status, 200);
  // A finished or closed request releases its share.
  open.clear();
  for (int tries = 0;; ++tries) {
    ASSERT_LT(tries, 2'000);
    RawClient again(test.server->port());
    ASSERT_TRUE(again.send("POST /p HTTP/1.1\r\nHost: x\r\nCaller: a\r\nContent-Length: 290000\r\n\r\n" +
                           std::string(290'000, 'x')));
    if (again.read_response().status == 200) break;
  }
  RawClient& large = begin("d", 200'000);
  ASSERT_TRUE(large.send(std::string(700'000, 'x')));
  EXPECT_NE(large.read_response().status, 200) << "alone it is larger than a caller's share";
}

}  // namespace
}  // namespace shepherd::net
