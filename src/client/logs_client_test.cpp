#include "client/logs_client.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "client/scripted_server_for_test.h"

namespace shepherd {
namespace {

using Words = std::vector<std::string>;

std::string event(const std::string& task, int sequence) {
  return R"({"type":"task_event","taskID":")" + task + R"(","data":{"sequence":)" + std::to_string(sequence) +
         R"(,"type":"command","data":{}}})";
}
std::string about(const std::string& type, const std::string& task, const std::string& data) {
  return R"({"type":")" + type + R"(","taskID":")" + task + R"(","data":)" + data + "}";
}
std::string answer(const std::string& type, int question) {
  return R"({"type":")" + type + R"(","id":")" + std::to_string(question) + R"(","data":{"code":"forbidden"}})";
}

class LogsClientTest : public testing::Test, public LogsObserver {
 protected:
  // Returns what ended it.
  std::string run() {
    Result<void> end = client_.run(*this);
    return end ? "stopped" : end.error().reason;
  }
  void on_log_event(LogKey log, std::string_view event) override {
    note("event " + std::to_string(log) + ":" +
         std::string(event.substr(event.find(':') + 1, event.find(',') - event.find(':') - 1)));
  }
  void on_log_live(LogKey log) override { note("live " + std::to_string(log)); }
  void on_log_deleted(LogKey log) override { note("deleted " + std::to_string(log)); }
  void on_logs_lost() override { note("lost"); }
  void note(const std::string& what) {
    heard_.push_back(what);
    if (act_) act_(what);
  }

  ScriptedServer server_;
  SystemClock clock_;
  SeededRandom random_{1};
  LogsClient client_{[this]() -> Result<Destination> { return Destination{server_.url(), server_.url(), "secret"}; },
                     "command", clock_, random_};
  Words heard_;
  std::function<void(const std::string&)> act_;
};

TEST_F(LogsClientTest, EachLogResumesAtItsOwnNumber) {
  client_.follow(1, "t");
  client_.follow(2, "u");
  server_.then(converse({{answer("subscribed", 1), event("t", 3), about("caught_up", "t", R"({"sequence":4})"),
                          event("u", 7), event("t", 9), event("t", 9), about("task_complete", "t", "{}")}},
                        1001));
  server_.then(converse({{answer("subscribed", 2), event("u", 8), about("caught_up", "u", R"({"sequence":8})"),
                          about("task_deleted", "u", "{}")}},
                        4101));
  EXPECT_EQ(run(), "token_revoked");
  EXPECT_EQ(heard_,
            (Words{"event 1:3", "live 1", "event 2:7", "event 1:9", "lost", "event 2:8", "live 2", "deleted 2"}));
  EXPECT_EQ(server_.targets(), (Words(2, "/api/v1/events?each=1&types=command")));
  EXPECT_EQ(server_.messages(), (Words{R"({"type":"subscribe","id":"1","logs":{"t":0,"u":0}})",
                                       R"({"type":"subscribe","id":"2","logs":{"u":7}})"}));
}

// What the server sent before it read the second question is about the first log.
TEST_F(LogsClientTest, ALogThatIsFollowedAgainGetsNothingOfItsPredecessor) {
  client_.follow(1, "t");
  act_ = [this](const std::string& what) {
    if (what != "event 1:17") return;
    client_.leave(1);
    client_.follow(2, "t");
  };
  server_.then(converse(
      {{answer("subscribed", 1), event("t", 17), event("t", 18), about("caught_up", "t", R"({"sequence":18})")},
       {},
       {answer("subscribed", 2), event("t", 1)}},
      4101));
  EXPECT_EQ(run(), "token_revoked");
  EXPECT_EQ(heard_, (Words{"event 1:17", "event 2:1"}));
  EXPECT_EQ(server_.messages(),
            (Words{R"({"type":"subscribe","id":"1","logs":{"t":0}})", R"({"type":"unsubscribe","tasks":["t"]})",
                   R"({"type":"subscribe","id":"2","logs":{"t":0}})"}));
}

TEST_F(LogsClientTest, ALogThatTheServerHadIsDeletedWhenItIsUnknown) {
  client_.follow(1, "had");
  client_.follow(2, "never");
  server_.then(converse({{answer("subscribed", 1), about("caught_up", "had", R"({"sequence":0})"),
                          about("error", "never", R"({"code":"unknown_task"})")}},
                        1001));
  server_.then(converse({{answer("subscribed", 2), about("error", "had", R"({"code":"unknown_task"})"),
                          about("error", "never", R"({"code":"unknown_task"})")}},
                        4101));
  EXPECT_EQ(run(), "token_revoked");
  EXPECT_EQ(heard_, (Words{"live 1", "lost", "deleted 1"}));
}

TEST_F(LogsClientTest, AfterARefusalEachLogIsAskedForAlone) {
  client_.follow(1, "t");
  client_.follow(2, "u");
  server_.then(converse({{answer("error", 1)}, {}, {}}, 4101));
  EXPECT_EQ(run(), "token_revoked");
  EXPECT_EQ(server_.messages(), (Words{R"({"type":"subscribe","id":"1","logs":{"t":0,"u":0}})",
                                       R"({"type":"subscribe","id":"2","logs":{"t":0}})",
                                       R"({"type":"subscribe","id":"3","logs":{"u":0}})"}));
}

}  // namespace
}  // namespace shepherd
