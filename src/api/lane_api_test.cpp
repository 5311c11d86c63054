// Requests that wait for a lane: bounds, turns, and clients that go away.
#include <latch>

#include "api/api_fixture.h"
#include "base/limits.h"
#include "net/server_for_test.h"

namespace shepherd {
namespace {

// Keeps all threads of a lane busy with the server's own work.
class BusyLane {
 public:
  explicit BusyLane(Lane& lane, std::ptrdiff_t threads = kLaneThreads) : begun_(threads), ended_(threads) {
    for (std::ptrdiff_t i = 0; i < threads; ++i) {
      lane.post([this] {
        begun_.count_down();
        free_.wait();
        ended_.count_down();
      });
    }
    begun_.wait();
  }
  ~BusyLane() {
    free_.count_down();
    ended_.wait();
  }
  BusyLane(const BusyLane&) = delete;
  BusyLane& operator=(const BusyLane&) = delete;

 private:
  std::latch begun_, free_{1}, ended_;
};

class NothingFound final : public SearchIndex {
 public:
  Result<void> add(const std::vector<SearchEntry>&, std::uint64_t) override { return {}; }
  Result<void> remove(const std::vector<SearchEntry>&) override { return {}; }
  Result<void> purge() override { return {}; }
  Result<std::uint64_t> indexed_through() const override { return 0; }
  Result<std::vector<std::uint64_t>> search(std::string_view, std::uint64_t, std::size_t) const override {
    return std::vector<std::uint64_t>{};
  }
};

class LanesApiTest : public ApiFixture {
 protected:
  void SetUp() override {
    search_ = &index_;
    ApiFixture::SetUp();
    create("t");
    append_lines("t", 3);
  }
  std::uint64_t counter(const std::string& name, const std::string& lane) {
    return metrics_.counter(name, "", "lane=\"" + lane + "\"").value();
  }
  std::int64_t waiting(const std::string& lane) {
    return metrics_.gauge("shepherd_lane_waiting", "", "lane=\"" + lane + "\"").value();
  }
  std::string request(net::HttpServer& server, const std::string& method, const std::string& target,
                      const std::string& body = "") {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: " + server.url().substr(7) +
                       "\r\nAuthorization: Bearer " + admin_ + "\r\n";
    if (!body.empty()) {
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    }
    return text + "\r\n" + body;
  }
  static std::uint16_t port_of(net::HttpServer& server) {
    return static_cast<std::uint16_t>(std::stoi(server.url().substr(server.url().rfind(':') + 1)));
  }
  // Both io threads have handled what the kernel had for them before.
  void pass_both_io_threads() {
    for (int i = 0; i < 8; ++i) EXPECT_EQ(get("/healthz").status, 200);
  }

  NothingFound index_;
};

TEST_F(LanesApiTest, TooManyRequestsOfOneCallerAreRefusedWithRetryAfter) {
  NewToken eve = make_token("eve", Scope::viewer);
  BusyLane busy(lanes_->scans);
  for (std::size_t i = 0; i < kMaxLaneCaller; ++i) lanes_->scans.offer(eve.info.id, [](Turn) {});
  auto refused = call(*public_, "GET", "/api/v1/tasks/t?at=1", "", bearer(eve.secret));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(code_of(refused), "busy");
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_EQ(counter("shepherd_lane_refused_total", "scans"), 1U);
  // Other callers and other kinds of requests are served.
  net::RawClient other(port_of(*public_));
  ASSERT_TRUE(other.send(request(*public_, "GET", "/api/v1/tasks/t?at=2")));
  EXPECT_TRUE(net::eventually([&] { return waiting("scans") == static_cast<std::int64_t>(kMaxLaneCaller) + 1; }));
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks/t", "", bearer(eve.secret)).status, 200);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks/t/events", "", bearer(eve.secret)).status, 200);
}

TEST_F(LanesApiTest, RunnersAndStreamsDoNotWaitForQueries) {
  BusyLane queries(lanes_->queries), scans(lanes_->scans), searches(lanes_->searches);
  BusyLane background(lanes_->background, 1);
  net::HeaderList headers = bearer(admin_);
  EXPECT_EQ(call(*internal_, "GET", "/api/v1/tasks/t/data", "", headers).status, 200);
  EXPECT_EQ(post("/api/v1/tasks", R"({"id":"queued","prompt":"do it","agent":"claude"})").status, 201);
  EXPECT_EQ(produce("/api/v1/claims", R"({"runner":"r","taskID":"queued","wait":0})").status, 200);
  auto socket = follow("/api/v1/tasks/t/events?after=0");
  EXPECT_EQ(next(socket).at("data").at("sequence").as_int64(), 1);
  append_lines("t", 1);
}

// A search is one step, however long it takes.
TEST_F(LanesApiTest, OnlySearchesWaitForSearches) {
  {
    BusyLane searches(lanes_->searches);
    EXPECT_EQ(get("/api/v1/tasks/t?at=1").status, 200);
    EXPECT_EQ(get("/api/v1/tasks/t/timeline").status, 200);
    EXPECT_EQ(get("/api/v1/tasks").status, 200);
  }
  BusyLane scans(lanes_->scans);
  EXPECT_EQ(get("/api/v1/search?q=x").status, 200);
}

TEST_F(LanesApiTest, AReadOfAClientThatWentAwayIsNotDone) {
  auto busy = std::make_unique<BusyLane>(lanes_->scans);
  net::RawClient client(port_of(*public_));
  ASSERT_TRUE(client.send(request(*public_, "GET", "/api/v1/tasks/t?at=1")));
  ASSERT_TRUE(net::eventually([&] { return waiting("scans") == 1; }));
  client.close();
  pass_both_io_threads();
  busy.reset();
  EXPECT_TRUE(net::eventually([&] { return counter("shepherd_lane_abandoned_total", "scans") == 1; }));
}

TEST_F(LanesApiTest, AReadThatDidNotWaitIsDoneForAClientThatEndsItsOutput) {
  net::RawClient client(port_of(*public_));
  ASSERT_TRUE(client.send(request(*public_, "GET", "/api/v1/tasks/t?at=1")));
  client.end_output();
  EXPECT_EQ(client.read_response().status, 200);
}

TEST_F(LanesApiTest, AWriteOfAClientThatWentAwayIsDone) {
  auto busy = std::make_unique<BusyLane>(lanes_->intake);
  net::RawClient client(port_of(*internal_));
  std::string large = "[";
  for (int i = 0; i < 800; ++i) {
    large += (i == 0 ? "" : ",") + (R"({"type":"log","summary":"sent and forgotten )" + std::string(400, 'x') + "\"}");
  }
  large += "]";
  ASSERT_TRUE(client.send(request(*internal_, "POST", "/api/v1/tasks/t/events", large)));
  ASSERT_TRUE(net::eventually([&] { return waiting("intake") == 1; }));
  client.close();
  pass_both_io_threads();
  busy.reset();
  EXPECT_TRUE(net::eventually([&] { return store_.task("t")->state.last_sequence == 803; }));
}

TEST_F(LanesApiTest, TheApiEndsAfterItsCalls) {
  auto busy = std::make_unique<BusyLane>(lanes_->queries);
  net::RawClient client(port_of(*public_));
  ASSERT_TRUE(client.send(request(*public_, "GET", "/api/v1/tasks/t")));
  ASSERT_TRUE(net::eventually([&] { return waiting("queries") == 1; }));
  std::atomic<bool> stopped = false;
  steering_->stop();
  inbox_->stop();
  public_->shutdown(0);
  internal_->shutdown(0);
  public_.reset();
  internal_.reset();
  std::jthread stopping([&] {
    api_.reset();
    stopped = true;
  });
  EXPECT_FALSE(stopped);
  busy.reset();
  stopping.join();
  EXPECT_EQ(waiting("queries"), 0);
}

}  // namespace
}  // namespace shepherd
