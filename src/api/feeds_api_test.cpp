#include <thread>

#include "api/api_fixture.h"
#include "journal/cursor.h"

namespace shepherd {
namespace {

class FeedsApi : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    create("t1");
  }
  net::ClientResponse sse(const std::string& target, net::HeaderList headers = {}) {
    headers.emplace_back("Authorization", "Bearer " + admin_);
    headers.emplace_back("Accept", "text/event-stream");
    return call(*public_, "GET", target, "", std::move(headers));
  }
};

const std::string kEvents = "/api/v1/tasks/t1/events";

TEST_F(FeedsApi, AWebSocketReplaysThenGoesLiveThenEnds) {
  append_lines("t1", 3);
  auto socket = follow(kEvents + "?after=1");
  for (int i = 2; i <= 3; ++i) {
    auto message = next(socket);
    EXPECT_EQ(message.at("type").as_string(), "task_event");
    EXPECT_EQ(message.at("taskID").as_string(), "t1");
    EXPECT_EQ(message.at("data").at("sequence").as_int64(), i);
  }
  EXPECT_EQ(json::serialize(next(socket)), R"({"type":"caught_up","taskID":"t1","data":{"sequence":3}})");
  append_lines("t1", 1);
  EXPECT_EQ(next(socket).at("data").at("sequence").as_int64(), 4);
  complete("t1");
  EXPECT_EQ(next(socket).at("data").at("type").as_string(), "status");
  auto last = next(socket);
  EXPECT_EQ(last.at("type").as_string(), "task_complete");
  EXPECT_EQ(last.at("data").at("status").as_string(), "completed");
  EXPECT_EQ(last.at("data").at("lastSequence").as_int64(), 5);
  EXPECT_EQ(close_code(socket), 1000);
}

TEST_F(FeedsApi, RefusalsComeBeforeTheUpgrade) {
  auto refused = [&](const std::string& target) {
    auto socket = open_socket(target, bearer(admin_));
    return socket ? "open" : socket.error().reason;
  };
  EXPECT_EQ(refused("/api/v1/tasks/nobody/events"), "unknown_task");
  EXPECT_EQ(refused(kEvents + "?after=1"), "cursor_ahead");
  EXPECT_EQ(refused(kEvents + "?after=-1"), "bad_parameter");
  EXPECT_EQ(refused("/api/v1/events?tasks=t1,nobody"), "unknown_task");
  EXPECT_EQ(refused("/api/v1/events?after=17"), "bad_parameter");
  EXPECT_EQ(refused("/api/v1/events?after=" + encode_cursor(1'000'000)), "cursor_ahead");
  auto anonymous = open_socket(kEvents, {});
  ASSERT_FALSE(anonymous);
  EXPECT_EQ(anonymous.error().reason, "missing_credentials");
}

TEST_F(FeedsApi, TailAndTypesHoldOnStreams) {
  append_lines("t1", 5);
  append_lines("t1", 5, "output");
  auto tail = follow(kEvents + "?tail=2");
  EXPECT_EQ(next(tail).at("data").at("sequence").as_int64(), 9);
  auto filtered = follow(kEvents + "?types=log&tail=2");
  EXPECT_EQ(next(filtered).at("data").at("sequence").as_int64(), 4);
  EXPECT_EQ(next(filtered).at("data").at("sequence").as_int64(), 5);
  append_lines("t1", 1, "output");
  append_lines("t1", 1);
  EXPECT_EQ(next(filtered, "task_event").at("data").at("sequence").as_int64(), 12);
}

TEST_F(FeedsApi, TheTailOfSomeLogsIsCountedInThem) {
  create("t2");
  create("t3");
  append_lines("t1", 5);
  append_lines("t2", 1);
  append_lines("t3", 20);
  auto two = follow("/api/v1/events?tasks=t1,t2&tail=2");
  json::value first = next(two), second = next(two);
  EXPECT_EQ(first.at("taskID").as_string(), "t1");
  EXPECT_EQ(first.at("data").at("sequence").as_int64(), 5);
  EXPECT_EQ(second.at("taskID").as_string(), "t2");
  EXPECT_EQ(next(two).at("type").as_string(), "caught_up");
  auto none = follow("/api/v1/events?tasks=t1&tail=0");
  EXPECT_EQ(next(none).at("type").as_string(), "caught_up");
}

TEST_F(FeedsApi, DeltasAreLiveOnlyAndAskedFor) {
  auto with = follow(kEvents + "?deltas=1");
  auto without = follow(kEvents);
  next(with, "caught_up");
  next(without, "caught_up");
  EXPECT_EQ(produce("/api/v1/tasks/t1/deltas", R"({"block":"b1","text":"Loo"})").status, 202);
  auto delta = next(with);
  EXPECT_EQ(json::serialize(delta), R"({"type":"delta","taskID":"t1","data":{"block":"b1","text":"Loo"}})");
  append_lines("t1", 1);
  EXPECT_EQ(next(without).at("type").as_string(), "task_event");
}

TEST_F(FeedsApi, AnEventStreamHasIdsAndResumes) {
  append_lines("t1", 2);
  complete("t1");
  auto whole = sse(kEvents);
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.header("content-type"), "text/event-stream");
  EXPECT_EQ(whole.header("cache-control"), "no-cache, no-transform");
  EXPECT_EQ(whole.header("x-accel-buffering"), "no");
  EXPECT_TRUE(whole.body.starts_with("id: 0\n\nevent: task_event\ndata: {\"sequence\":1,")) << whole.body;
  EXPECT_TRUE(whole.body.ends_with("\nid: 3.end\n\n")) << whole.body;

  auto resumed = sse(kEvents + "?after=0", {{"Last-Event-ID", "2"}});
  EXPECT_TRUE(resumed.body.starts_with("id: 2\n\nevent: task_event\ndata: {\"sequence\":3,")) << resumed.body;
  EXPECT_EQ(sse(kEvents, {{"Last-Event-ID", "3.end"}}).status, 204);
  EXPECT_EQ(sse(kEvents, {{"Last-Event-ID", "nonsense"}}).status, 400);
  EXPECT_EQ(sse(kEvents, {{"Last-Event-ID", "4"}}).status, 409);
}

TEST_F(FeedsApi, ManyLogsOnOneConnection) {
  create("t2");
  create("t3");
  auto all = follow("/api/v1/events");
  auto some = follow("/api/v1/events?tasks=t1,t2");
  next(all, "caught_up");
  next(some, "caught_up");
  append_lines("t3", 1);
  append_lines("t1", 1);
  EXPECT_EQ(next(all, "task_event").at("taskID").as_string(), "t3");
  auto first = next(all, "task_event");
  EXPECT_EQ(first.at("taskID").as_string(), "t1");
  EXPECT_EQ(next(some, "task_event").at("taskID").as_string(), "t1");

  append_lines("t2", 1);
  complete("t1");
  EXPECT_EQ(next(some, "task_event").at("taskID").as_string(), "t2");
  EXPECT_EQ(next(some, "task_complete").at("taskID").as_string(), "t1");
  append_lines("t2", 1);
  EXPECT_EQ(next(some, "task_event").at("taskID").as_string(), "t2") << "an end does not end it";

  // A message's cursor resumes exactly after it.
  auto resumed = follow("/api/v1/events?tasks=t1,t2&after=" + std::string(first.at("cursor").as_string()));
  auto again = next(resumed, "task_event");
  EXPECT_EQ(again.at("taskID").as_string(), "t2");
  EXPECT_EQ(again.at("data").at("sequence").as_int64(), 1);
  auto from_start = follow("/api/v1/events?after=0");
  EXPECT_EQ(next(from_start, "task_event").at("taskID").as_string(), "t3");
  EXPECT_EQ(get("/api/v1/events").status, 406);
}

TEST_F(FeedsApi, SubscriptionsChangeTheSet) {
  create("t2");
  auto socket = follow("/api/v1/events?tasks=t1");
  next(socket, "caught_up");
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","id":"s1","tasks":["t2"]})"));
  EXPECT_EQ(json::serialize(next(socket, "subscribed")),
            R"({"type":"subscribed","id":"s1","data":{"all":false,"tasks":["t1","t2"]}})");
  ASSERT_TRUE(socket.send(R"({"type":"unsubscribe","tasks":["t1"]})"));
  next(socket, "subscribed");
  append_lines("t1", 1);
  append_lines("t2", 1);
  EXPECT_EQ(next(socket, "task_event").at("taskID").as_string(), "t2");

  for (const char* bad : {"[]", "nonsense", R"({"type":"subscribe","tasks":"t1"})", R"({"type":"unsubscribe"})"}) {
    ASSERT_TRUE(socket.send(bad));
    EXPECT_EQ(next(socket, "error").at("data").at("code").as_string(), "bad_message") << bad;
  }
  ASSERT_TRUE(socket.send(R"({"type":"dance","id":"c1","taskID":"t1","data":{}})"));
  auto unsupported = next(socket, "error");
  EXPECT_EQ(unsupported.at("id").as_string(), "c1");
  EXPECT_EQ(unsupported.at("data").at("code").as_string(), "unsupported");
}

// A runner of many tasks has one connection, which counts as a command taker for each of them.
TEST_F(FeedsApi, ARunnerMayWaitForCommandsOfManyTasks) {
  for (const char* task : {"a", "b"}) create(task);
  auto command = [&](const std::string& task) {
    auto answer = post("/api/v1/tasks/" + task + "/commands", R"({"kind":"interrupt"})");
    return std::string(parsed(answer).at("state").as_string());
  };
  auto opened = net::WebSocketClient::connect(
      *net::parse_url(internal_->url() + "/api/v1/events?tasks=a&types=command"), bearer(admin_), 10s);
  ASSERT_TRUE(opened) << opened.error().message;
  net::WebSocketClient runner = std::move(*opened);
  next(runner, "caught_up");
  EXPECT_EQ(command("a"), "accepted");
  EXPECT_EQ(command("b"), "refused");
  ASSERT_TRUE(runner.send(R"({"type":"subscribe","tasks":["b"]})"));
  next(runner, "subscribed");
  EXPECT_EQ(command("b"), "accepted");
  ASSERT_TRUE(runner.send(R"({"type":"unsubscribe","tasks":["a"]})"));
  next(runner, "subscribed");
  EXPECT_EQ(command("a"), "refused");
  ASSERT_TRUE(runner.send(R"({"type":"subscribe"})"));
  next(runner, "subscribed");
  EXPECT_EQ(command("a"), "accepted") << "all is everybody";
  runner.close();
  while (steering_->command_takers().is_open("b")) std::this_thread::yield();
  EXPECT_EQ(command("b"), "refused");
}

class LogByLog : public FeedsApi {
 protected:
  net::WebSocketClient open(const std::string& more = "") {
    auto opened = net::WebSocketClient::connect(*net::parse_url(internal_->url() + "/api/v1/events?each=1" + more),
                                                bearer(admin_), 10s);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  // The next messages, without those that answer the client.
  std::string heard(net::WebSocketClient& socket, int count) {
    std::string all;
    while (count > 0) {
      auto message = next(socket);
      std::string type(message.at("type").as_string());
      if (type == "subscribed") continue;
      --count;
      all += (all.empty() ? "" : ", ") + type + " " + std::string(message.at("taskID").as_string());
      if (auto* sequence = message.at("data").as_object().if_contains("sequence")) {
        all += " " + std::to_string(sequence->as_int64());
      }
      if (type == "error") all += " " + std::string(message.at("data").at("code").as_string());
    }
    return all;
  }
};

TEST_F(LogByLog, EachLogHasItsOwnNumberAndEnd) {
  create("t2");
  append_lines("t1", 3);
  append_lines("t2", 1);
  auto socket = open();
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t1":2}})"));
  EXPECT_EQ(heard(socket, 2), "task_event t1 3, caught_up t1 3");
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t2":0}})"));
  EXPECT_EQ(heard(socket, 2), "task_event t2 1, caught_up t2 1");
  append_lines("t1", 1);
  EXPECT_EQ(heard(socket, 1), "task_event t1 4");
  complete("t1");
  EXPECT_EQ(heard(socket, 2), "task_event t1 5, task_complete t1");
  append_lines("t2", 1);
  EXPECT_EQ(heard(socket, 1), "task_event t2 2") << "an end does not end the stream";
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t2":1}})"));
  EXPECT_EQ(heard(socket, 2), "task_event t2 2, caught_up t2 2") << "asked for again, from there";
  ASSERT_TRUE(socket.send(R"({"type":"unsubscribe","id":"u","tasks":["t2"]})"));
  while (json::serialize(next(socket)) != R"({"type":"subscribed","id":"u","data":{"all":false,"tasks":[]}})") continue;
  append_lines("t2", 1);
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t1":4}})"));
  EXPECT_EQ(heard(socket, 3), "task_event t1 5, caught_up t1 5, task_complete t1");
}

TEST_F(LogByLog, ALogThatCannotBeFollowedLeavesTheOthers) {
  create("t2");
  auto socket = open();
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t1":0}})"));
  EXPECT_EQ(heard(socket, 1), "caught_up t1 0");
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"nobody":0}})"));
  EXPECT_EQ(heard(socket, 1), "error nobody unknown_task");
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t2":7}})"));
  EXPECT_EQ(heard(socket, 1), "error t2 cursor_ahead");
  ASSERT_TRUE(socket.send(R"({"type":"subscribe","logs":{"t2":0}})"));
  EXPECT_EQ(heard(socket, 1), "caught_up t2 0");
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t2", "", bearer(admin_)).status, 204);
  EXPECT_EQ(heard(socket, 1), "task_deleted t2");
  for (const char* bad : {R"({"type":"subscribe"})", R"({"type":"subscribe","logs":{"t1":-1}})",
                          R"({"type":"subscribe","logs":{"t1":"0"}})", R"({"type":"unsubscribe"})"}) {
    ASSERT_TRUE(socket.send(bad));
    EXPECT_EQ(next(socket, "error").at("data").at("code").as_string(), "bad_message") << bad;
  }
  append_lines("t1", 1);
  EXPECT_EQ(heard(socket, 1), "task_event t1 1");
  EXPECT_EQ(sse("/api/v1/events?each=1").status, 400);
}

TEST_F(LogByLog, ARunnerTakesTheCommandsOfItsLogs) {
  create("t2");
  auto& takers = steering_->command_takers();
  auto runner = open("&types=command");
  ASSERT_TRUE(runner.send(R"({"type":"subscribe","logs":{"t1":0,"t2":0}})"));
  next(runner, "subscribed");
  EXPECT_TRUE(takers.is_open("t1") && takers.is_open("t2"));
  ASSERT_TRUE(runner.send(R"({"type":"unsubscribe","tasks":["t1"]})"));
  next(runner, "subscribed");
  EXPECT_FALSE(takers.is_open("t1"));
  complete("t2");
  next(runner, "task_complete");
  while (takers.is_open("t2")) std::this_thread::yield();  // right after the message
}

// Clients on the public listener only watch; they do not deliver commands to agents.
TEST_F(FeedsApi, AWatcherOfCommandsIsNoRunner) {
  create("a");
  auto watcher = follow("/api/v1/events?types=command");
  next(watcher, "caught_up");
  EXPECT_FALSE(steering_->command_takers().is_open("a"));
}

TEST_F(FeedsApi, ChangedRowsAreTold) {
  auto socket = follow("/api/v1/events");
  next(socket, "caught_up");
  create("t2");
  auto created = next(socket, "task_update");
  EXPECT_EQ(created.at("taskID").as_string(), "t2");
  EXPECT_EQ(created.at("data").at("status").at("state").as_string(), "queued");
  append_lines("t2", 1);
  auto running = next(socket, "task_update");
  EXPECT_EQ(running.at("data").at("status").at("state").as_string(), "running");
}

TEST_F(FeedsApi, ShutdownAndDeletionSayWhetherToComeBack) {
  create("t2");
  auto deleted = follow("/api/v1/tasks/t2/events");
  auto open = follow(kEvents);
  next(deleted, "caught_up");
  next(open, "caught_up");
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t2", "", bearer(admin_)).status, 204);
  EXPECT_EQ(close_code(deleted), 4102);
  auto closed = std::async(std::launch::async, [&] { return close_code(open); });
  stop();
  EXPECT_EQ(closed.get(), 1001);
}

TEST_F(FeedsApi, AStreamLeavesOneAuditRecordWithItsRange) {
  append_lines("t1", 4);
  complete("t1");
  {
    auto socket = follow(kEvents + "?after=2");
    EXPECT_EQ(close_code(socket), 1000);
  }
  stop();
  int found = 0;
  for (const auto& record : audit_.records()) {
    if (record.status != 101) continue;
    ++found;
    EXPECT_EQ(record.path, kEvents);
    EXPECT_EQ(record.first, 3);
    EXPECT_EQ(record.last, 5);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace shepherd
