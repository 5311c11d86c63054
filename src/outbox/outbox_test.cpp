// Tests of the outbox against a real server and one that loses answers.
#include "outbox/outbox.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "api/api_fixture.h"
#include "outbox/limits.h"
#include "outbox/spool.h"
#include "process/test_agents.h"

namespace shepherd {
namespace {

// A sink with scripted faults; by default it forwards to another sink.
class FaultySink final : public EventSink {
 public:
  using Post = std::function<Result<Posted>(const std::string& task, std::string_view, const std::string& producer)>;

  explicit FaultySink(Post post) : post_(std::move(post)) {}
  Result<Posted> post_events(const std::string& task, std::string_view ndjson, const std::string& producer) override {
    return post_(task, ndjson, producer);
  }
  Result<void> post_deltas(const std::string&, std::string_view) override { return {}; }

 private:
  Post post_;
};

std::unexpected<Error> away() {
  return fail(ErrorCode::unavailable, "unreachable", "nobody there");
}

class OutboxTest : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    directory_ = testing::TempDir() + "outbox_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    create("t");
    destination_ = {public_->url(), internal_->url(), admin_};
    sink_ = server_sink();
  }
  void TearDown() override {
    outbox_.reset();
    ApiFixture::TearDown();
    std::filesystem::remove_all(directory_);
  }

  std::unique_ptr<EventSink> server_sink() {
    return make_server_sink([this]() -> Result<Destination> { return destination_; });
  }
  std::size_t spool_bytes_ = kSpoolBytes;
  void open(EventSink& sink) {
    auto outbox = Outbox::create({directory_, "t", destination_.internal_url, 0, spool_bytes_}, sink, clock_, random_);
    ASSERT_TRUE(outbox) << outbox.error().message;
    outbox_ = std::move(*outbox);
  }
  void resume(EventSink& sink) {
    auto pending = Spool::pending(directory_);
    ASSERT_EQ(pending.size(), 1u);
    auto outbox = Outbox::resume(pending[0].path, sink, clock_, random_);
    ASSERT_TRUE(outbox) << outbox.error().message;
    outbox_ = std::move(*outbox);
  }

  // Starts a server at the same address, as after a restart.
  void restart_server() {
    std::string address = destination_.internal_url.substr(destination_.internal_url.find("//") + 2);
    start();
    internal_->shutdown(0);
    net::ListenOptions options;
    options.address = address;
    options.name = "internal";
    options.max_connections = 1000;
    auto server = net::HttpServer::listen(io_, std::move(options), api_->internal_handler(), clock_, metrics_);
    ASSERT_TRUE(server) << server.error().message;
    internal_ = std::move(*server);
  }

  static std::string event(int i) {
    return R"({"type":"output","timestamp":"2026-02-18T14:00:00.000Z","summary":"step )" + std::to_string(i) + "\"}";
  }
  void add(int from, int to) {
    for (int i = from; i <= to; ++i) outbox_->add(event(i));
  }
  bool waits_for(OutboxState state) {
    return eventually([&] { return outbox_->status().state == state; });
  }

  std::vector<json::object> log() {
    std::vector<json::object> events;
    for (;;) {
      std::string after = std::to_string(events.size());
      auto page = parsed(get("/api/v1/tasks/t/events?limit=5000&after=" + after)).as_object().at("events").as_array();
      for (const json::value& found : page) events.push_back(found.as_object());
      if (page.empty()) return events;
    }
  }
  static std::string summary(const json::object& event) { return std::string(event.at("summary").as_string()); }
  static std::string type(const json::object& event) { return std::string(event.at("type").as_string()); }
  static std::string code(const json::object& event) {
    return std::string(event.at("data").as_object().at("code").as_string());
  }
  // Expects steps 1 to `last`, each once, in order, and nothing else.
  void expect_steps(int last) {
    auto events = log();
    ASSERT_EQ(events.size(), static_cast<std::size_t>(last));
    for (int i = 0; i < last; ++i)
      ASSERT_EQ(summary(events[static_cast<std::size_t>(i)]), "step " + std::to_string(i + 1));
  }

  std::string directory_;
  Destination destination_;
  std::unique_ptr<EventSink> sink_;
  std::unique_ptr<Outbox> outbox_;
};

TEST_F(OutboxTest, DeliversEverythingInOrderAndLeavesNoFile) {
  open(*sink_);
  add(1, 5'000);
  Drained drained = outbox_->drain(20s);
  EXPECT_TRUE(drained.everything);
  EXPECT_EQ(drained.status.delivered, 5'000u);
  expect_steps(5'000);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  outbox_->add(event(0));
  EXPECT_EQ(outbox_->status().lost, 1u);
}

TEST_F(OutboxTest, AnEventArrivesWithinMilliseconds) {
  open(*sink_);
  outbox_->add(event(1));
  EXPECT_TRUE(eventually([&] { return outbox_->status().delivered == 1; }, 2s));
  expect_steps(1);
}

TEST_F(OutboxTest, AServerThatRestartsTwiceMissesNothing) {
  open(*sink_);
  add(1, 100);
  ASSERT_TRUE(eventually([&] { return outbox_->status().delivered == 100; }));
  for (int round = 1; round <= 2; ++round) {
    stop();
    add(round * 100 + 1, round * 100 + 100);
    ASSERT_TRUE(waits_for(OutboxState::waiting));
    EXPECT_EQ(outbox_->status().trouble->code, ErrorCode::unavailable);
    restart_server();
    ASSERT_TRUE(waits_for(OutboxState::delivering));
  }
  EXPECT_TRUE(outbox_->drain(20s).everything);
  expect_steps(300);
}

TEST_F(OutboxTest, WhatARunnerLeavesBehindIsDeliveredByTheNextOnes) {
  stop();
  open(*sink_);
  add(1, 50);
  ASSERT_TRUE(waits_for(OutboxState::waiting));
  Drained drained = outbox_->drain(10ms);
  EXPECT_FALSE(drained.everything);
  EXPECT_EQ(drained.status.undelivered, 50u);
  outbox_.reset();
  auto pending = Spool::pending(directory_);
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0].path, drained.spool_path);
  EXPECT_EQ(pending[0].identity.task, "t");
  EXPECT_EQ(pending[0].identity.destination, destination_.internal_url);
  EXPECT_EQ(pending[0].events, 50u);

  resume(*sink_);  // a second runner that adds to it and fails, too
  add(51, 80);
  ASSERT_TRUE(waits_for(OutboxState::waiting));
  outbox_.reset();
  restart_server();
  resume(*sink_);
  EXPECT_TRUE(outbox_->drain(20s).everything);
  expect_steps(80);
  EXPECT_TRUE(Spool::pending(directory_).empty());
}

TEST_F(OutboxTest, RefusedEventsBecomeLogEventsAndHoldNobodyUp) {
  open(*sink_);
  std::vector<std::string> events{event(1),
                                  R"({"summary":"no type"})",
                                  event(3),
                                  R"({"type":"command","summary":"approve myself"})",
                                  R"({"type":"log","summary":)",
                                  R"({"type":"log","summary":} nonsense {})",
                                  R"({"type":"output","data":{"x":")" + std::string(300'000, 'x') + "\"}}",
                                  "not json",
                                  "{\n\"type\": \"output\",\n\"summary\": \"step 9\"\n}\n",
                                  "{}",
                                  event(11)};
  for (const std::string& text : events) outbox_->add(text);
  EXPECT_TRUE(outbox_->drain(20s).everything);
  auto found = log();
  ASSERT_EQ(found.size(), events.size());
  for (std::size_t i : {0, 2, 8, 10}) EXPECT_EQ(summary(found[i]), "step " + std::to_string(i + 1));
  for (std::size_t i : {1, 3, 4, 5, 6, 7, 9}) {
    EXPECT_EQ(type(found[i]), "log") << i;
    EXPECT_EQ(code(found[i]), i == 4 || i == 7 ? "event_unfit" : "event_refused") << i;
  }
  EXPECT_EQ(found[3].at("data").as_object().at("reason").as_string(), "reserved_type");
  EXPECT_EQ(found[6].at("data").as_object().at("reason").as_string(), "event_too_large");
  EXPECT_EQ(outbox_->status().replaced, 7u);
}

TEST_F(OutboxTest, ATaskThatHasEndedTakesWhatCameBeforeItsEnd) {
  open(*sink_);
  add(1, 3);
  outbox_->add(R"({"type":"status","summary":"done","data":{"state":"completed"}})");
  add(5, 6);
  Drained drained = outbox_->drain(20s);
  EXPECT_FALSE(drained.everything);
  EXPECT_EQ(drained.status.state, OutboxState::ended);
  EXPECT_EQ(drained.status.after_the_end, 2u);
  EXPECT_TRUE(drained.spool_path.empty());
  EXPECT_EQ(log().size(), 4u);
  outbox_.reset();
  EXPECT_TRUE(Spool::pending(directory_).empty());
}

TEST_F(OutboxTest, ABadTokenIsToldAndNothingIsLost) {
  destination_.token = "wrong";
  auto stranger = server_sink();
  open(*stranger);
  add(1, 3);
  ASSERT_TRUE(waits_for(OutboxState::refused));
  EXPECT_EQ(outbox_->status().trouble->code, ErrorCode::unauthenticated);
  EXPECT_FALSE(outbox_->drain(10ms).everything);
  outbox_.reset();
  destination_.token = admin_;
  resume(*sink_);
  EXPECT_TRUE(outbox_->drain(20s).everything);
  expect_steps(3);
}

TEST_F(OutboxTest, AnAddressThatTakesNoEventsReplacesNone) {
  destination_.internal_url = destination_.public_url;
  auto wrong_port = server_sink();
  open(*wrong_port);
  add(1, 2);
  ASSERT_TRUE(waits_for(OutboxState::refused));
  EXPECT_EQ(outbox_->status().replaced, 0u);
  EXPECT_EQ(outbox_->status().undelivered, 2u);
}

TEST_F(OutboxTest, LostRequestsAndLostAnswersAreNeitherHolesNorRepeats) {
  const char* given = std::getenv("SHEPHERD_CRASH_SEED");
  std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : random_.next();
  std::printf("SHEPHERD_CRASH_SEED=%llu\n", static_cast<unsigned long long>(seed));
  SeededRandom dice(seed);
  FaultySink lossy([&](const std::string& task, std::string_view body, const std::string& producer) -> Result<Posted> {
    std::uint64_t face = dice.below(6);
    if (face == 0) return away();
    auto posted = sink_->post_events(task, body, producer);
    if (face == 1) return away();
    return posted;
  });
  open(lossy);
  for (int i = 1; i <= 600; ++i) {
    outbox_->add(event(i));
    ASSERT_TRUE(eventually([&] { return i % 60 != 0 || outbox_->status().undelivered < 60; }));
    if (i % 200 == 0 && i < 600) {  // the runner is restarted, too
      std::string path = outbox_->spool_path();
      outbox_.reset();
      if (!std::filesystem::exists(path)) {
        open(lossy);
      } else {
        resume(lossy);
      }
    }
  }
  EXPECT_TRUE(outbox_->drain(30s).everything);
  expect_steps(600);
  outbox_.reset();  // before its sink
}

TEST_F(OutboxTest, ATornSpoolLosesOnlyItsTornEndAndSaysSo) {
  FaultySink nowhere([](auto&&...) { return away(); });
  open(nowhere);
  add(1, 10);
  ASSERT_TRUE(waits_for(OutboxState::waiting));
  ASSERT_TRUE(eventually([&] { return Spool::pending(directory_).at(0).events == 10; }));
  std::string path = outbox_->spool_path();
  outbox_.reset();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  resume(*sink_);
  EXPECT_TRUE(outbox_->drain(20s).everything);
  auto events = log();
  ASSERT_EQ(events.size(), 10u);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(summary(events[i]), "step " + std::to_string(i + 1));
  EXPECT_EQ(code(events[9]), "spool_damaged");
  outbox_.reset();  // before its sink
}

TEST_F(OutboxTest, AServerThatLostItsLogGetsItAgain) {
  open(*sink_);
  add(1, 20);
  ASSERT_TRUE(eventually([&] { return outbox_->status().delivered == 20; }));
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t", "", bearer(admin_)).status, 204);
  create("t");
  add(21, 30);
  EXPECT_TRUE(outbox_->drain(20s).everything);
  expect_steps(30);
}

TEST_F(OutboxTest, ANumberThatTheServerKnowsOtherwiseIsPostedUnderANewId) {
  std::string producer;
  FaultySink curious([&](const std::string& task, std::string_view body, const std::string& id) -> Result<Posted> {
    if (producer.empty()) {  // posted before by a machine that then lost the end of its spool
      producer = id;
      auto before = sink_->post_events(task, "{\"type\":\"log\",\"sequence\":1,\"summary\":\"before\"}\n", id);
      EXPECT_TRUE(before);
    }
    return sink_->post_events(task, body, id);
  });
  open(curious);
  add(1, 3);
  EXPECT_TRUE(outbox_->drain(20s).everything);
  auto events = log();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(summary(events[0]), "before");
  EXPECT_EQ(summary(events[3]), "step 3");
  EXPECT_EQ(code(events[4]), "producer_changed");
  EXPECT_NE(events[1].at("producer").as_string(), producer);
  outbox_.reset();  // before its sink
}

TEST_F(OutboxTest, AProxyThatTakesOnlySmallRequestsIsServedInSmallOnes) {
  FaultySink narrow([&](const std::string& task, std::string_view body, const std::string& id) -> Result<Posted> {
    if (body.size() > 1'000) return fail(ErrorCode::too_large, "too_large", "the proxy takes 1000 bytes");
    return sink_->post_events(task, body, id);
  });
  open(narrow);
  add(1, 40);
  outbox_->add(R"({"type":"output","summary":")" + std::string(2'000, 'x') + "\"}");
  EXPECT_TRUE(outbox_->drain(20s).everything);
  auto events = log();
  ASSERT_EQ(events.size(), 41u);
  EXPECT_EQ(summary(events[39]), "step 40");
  EXPECT_EQ(code(events[40]), "event_refused");
  outbox_.reset();  // before its sink
}

TEST_F(OutboxTest, AddNeverWaitsForAServerThatHangs) {
  std::promise<void> let_go;
  std::shared_future<void> released = let_go.get_future().share();
  FaultySink hung([&](auto&&...) -> Result<Posted> {
    released.wait();
    return away();
  });
  open(hung);
  auto began = std::chrono::steady_clock::now();
  add(1, 50'000);
  double each_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count() / 50'000;
  std::printf("add() takes %.2f microseconds\n", each_us);
  // The disk has them although the poster has been stuck since the first one.
  EXPECT_TRUE(eventually([&] { return Spool::pending(directory_).at(0).events == 50'000; }));
  EXPECT_EQ(outbox_->status().lost, 0u);
  EXPECT_FALSE(outbox_->drain(10ms).everything);
  let_go.set_value();
  outbox_.reset();  // before its sink
}

// The disk accepts nothing, the server everything.
TEST_F(OutboxTest, AFullDiskLosesNothingWhileTheServerIsThere) {
  spool_bytes_ = 2'000;
  open(*sink_);
  add(1, 500);
  outbox_->add_end(R"({"type":"status","data":{"state":"completed"},"summary":"done"})");
  auto drained = outbox_->drain(60s);
  EXPECT_TRUE(drained.everything);
  EXPECT_EQ(drained.status.lost, 0u);
  auto events = log();
  ASSERT_EQ(events.size(), 501u);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(summary(events[static_cast<std::size_t>(i)]), "step " + std::to_string(i + 1));
  EXPECT_EQ(summary(events.back()), "done");
  EXPECT_TRUE(Spool::pending(directory_).empty());
}

// Neither accepts anything, and the runner ends: the next one reports the number of lost events and the end.
TEST_F(OutboxTest, WhatIsLostOnAFullDiskIsNamedAndTheEndIsTold) {
  spool_bytes_ = 2'000;
  FaultySink nowhere([](auto&&...) { return away(); });
  open(nowhere);
  add(1, 500);
  outbox_->add_end(R"({"type":"status","data":{"state":"completed"},"summary":"done"})");
  auto drained = outbox_->drain(50ms);
  EXPECT_FALSE(drained.everything);
  EXPECT_GT(drained.status.lost, 0u);
  outbox_.reset();
  resume(*sink_);
  ASSERT_TRUE(outbox_->drain(60s).everything);
  auto events = log();
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(summary(events.back()), "done");
  const json::object& notice = events[events.size() - 2];
  EXPECT_EQ(code(notice), "events_lost");
  EXPECT_EQ(notice.at("data").as_object().at("count").to_number<std::uint64_t>(), 500 - (events.size() - 2));
}

// More than memory holds: the loss is reported in its place, and later events are there.
TEST_F(OutboxTest, WhatMemoryDoesNotHoldIsNamedBeforeWhatComesNext) {
  spool_bytes_ = 2'000;
  std::atomic<bool> there = false;
  FaultySink faulty([&](const std::string& task, std::string_view body, const std::string& id) -> Result<Posted> {
    if (!there) return away();
    return sink_->post_events(task, body, id);
  });
  open(faulty);
  std::string large = R"({"type":"output","summary":"large","data":{"text":")" + std::string(1'000'000, 'x') + "\"}}";
  for (int i = 0; i < 30; ++i) outbox_->add(large);
  EXPECT_GT(outbox_->status().lost, 0u);
  std::uint64_t lost = outbox_->status().lost;
  there = true;
  ASSERT_TRUE(eventually([&] { return outbox_->status().undelivered == 0; }));
  add(1, 1);
  ASSERT_TRUE(outbox_->drain(60s).everything);
  auto events = log();
  ASSERT_EQ(events.size(), 30 - lost + 2);
  EXPECT_EQ(code(events[events.size() - 2]), "events_lost");
  EXPECT_EQ(events[events.size() - 2].at("data").as_object().at("count").to_number<std::uint64_t>(), lost);
  EXPECT_EQ(summary(events.back()), "step 1");
  outbox_.reset();  // before its sink
}

TEST_F(OutboxTest, AnotherRunnersTaskTakesNothingOfOurs) {
  FaultySink lost(
      [](auto&&...) -> Result<Posted> { return fail(ErrorCode::conflict, "lease_lost", "another runner has it"); });
  open(lost);
  add(1, 3);
  ASSERT_TRUE(waits_for(OutboxState::superseded));
  auto drained = outbox_->drain(60s);
  EXPECT_FALSE(drained.everything);
  EXPECT_EQ(drained.spool_path, outbox_->spool_path());
  outbox_.reset();  // before its sink
}

TEST_F(OutboxTest, DeltasComeBeforeTheirEvent) {
  auto socket = follow("/api/v1/tasks/t/events?deltas=1");
  ASSERT_FALSE(next(socket, "caught_up").empty());
  open(*sink_);
  int seen = 0;
  for (int i = 1; i <= 20; ++i) {
    outbox_->add_delta(R"({"block":)" + std::to_string(i) + R"(,"text":"hel"})");
    outbox_->add_delta(R"({"block":)" + std::to_string(i) + R"(,"text":"lo"})");
    outbox_->add(event(i));
    // A busy feed may drop deltas, but none arrives after its event.
    auto message = next(socket);
    for (; message.at("type").as_string() == "delta"; message = next(socket)) {
      EXPECT_EQ(message.at("data").at("block").to_number<int>(), i);
      ++seen;
    }
    EXPECT_EQ(message.at("type").as_string(), "task_event") << i;
  }
  EXPECT_GT(seen, 20);
  EXPECT_EQ(outbox_->status().deltas_dropped, 0u);
}

TEST_F(OutboxTest, DeltasAreDroppedFirst) {
  FaultySink nowhere([](auto&&...) { return away(); });
  open(nowhere);
  outbox_->add(event(1));
  ASSERT_TRUE(waits_for(OutboxState::waiting));
  for (int i = 0; i < 1'000; ++i) outbox_->add_delta(R"({"block":0,"text":"x"})");
  EXPECT_EQ(outbox_->status().deltas_dropped, 1'000u);
  EXPECT_EQ(outbox_->status().undelivered, 1u);
  outbox_.reset();  // before its sink
}

}  // namespace
}  // namespace shepherd
