#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "client/api_client.h"
#include "client/find_server.h"
#include "client/log_cursor.h"
#include "client/problem.h"
#include "client/scripted_server_for_test.h"

namespace shepherd {
namespace {

TEST(LogCursor, TakesTheNextRefusesHolesDropsRepeats) {
  LogCursor cursor(false);
  cursor.start_after(4);
  EXPECT_EQ(cursor.event(6), LogCursor::Step::hole);
  EXPECT_EQ(cursor.event(5), LogCursor::Step::take);
  EXPECT_EQ(cursor.event(5), LogCursor::Step::repeat);
  EXPECT_EQ(cursor.gap(7, 9), LogCursor::Step::hole);
  EXPECT_EQ(cursor.gap(6, 9), LogCursor::Step::take);
  EXPECT_EQ(cursor.reached(10), LogCursor::Step::hole);
  EXPECT_EQ(cursor.reached(9), LogCursor::Step::take);
  EXPECT_EQ(cursor.last(), 9u);
}

TEST(Problem, CarriesTheServersWords) {
  Error error = read_problem(
      409, R"({"type":"about:blank","title":"Conflict","status":409,"detail":"a hole","code":"sequence_hole",)"
           R"("error":"a hole","expectedSequence":7})");
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.reason, "sequence_hole");
  EXPECT_EQ(error.message, "a hole");
  ASSERT_EQ(error.fields.size(), 1u);
  EXPECT_EQ(error.fields[0].name, "expectedSequence");
  EXPECT_EQ(std::get<std::int64_t>(error.fields[0].value), 7);

  Error proxy = read_problem(502, "<html>bad gateway</html>");
  EXPECT_EQ(proxy.code, ErrorCode::unavailable);
  EXPECT_NE(proxy.message.find("502"), std::string::npos);
}

class FindServerTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "find_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_ + "/shepherd");
    variables_["XDG_DATA_HOME"] = directory_;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Result<Destination> find(FindOptions options = {}) {
    return find_server(options, [this](const char* name) {
      auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    });
  }
  void serve() {
    ASSERT_TRUE(write_server_record(directory_ + "/shepherd", {"http://127.0.0.1:5", "http://127.0.0.1:6", 1, 2}));
    std::ofstream(directory_ + "/shepherd/admin.token") << "shp_local\n";
  }

  std::string directory_;
  std::map<std::string, std::string> variables_;
};

// With the admin token an agent could run `shepherd approve` as its own operator.
TEST_F(FindServerTest, TheAdminTokenIsNotUsedInsideATask) {
  serve();
  variables_["SHEPHERD_TASK_ID"] = "task-1";
  auto found = find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->public_url, "http://127.0.0.1:5");
  EXPECT_EQ(found->token, "");
  EXPECT_NE(found->no_token.find("SHEPHERD_TASK_ID"), std::string::npos);
  EXPECT_NE(found->no_token.find("SHEPHERD_TOKEN"), std::string::npos);
  // An explicit token is used, and so is the token of the local server.
  variables_["SHEPHERD_TOKEN"] = "given";
  EXPECT_EQ(find()->token, "given");
  variables_.erase("SHEPHERD_TOKEN");
  FindOptions own;
  own.own_server = true;
  EXPECT_EQ(find(own)->token, "shp_local");
}

TEST_F(FindServerTest, TheServerOfThisMachineAndItsAdminToken) {
  serve();
  Result<Destination> found = find();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->public_url, "http://127.0.0.1:5");
  EXPECT_EQ(found->internal_url, "http://127.0.0.1:6");
  EXPECT_EQ(found->token, "shp_local");
}

TEST_F(FindServerTest, TheAdminTokenIsNeverGivenToAnotherServer) {
  serve();
  variables_["SHEPHERD_URL"] = "https://elsewhere.example";
  Result<Destination> found = find();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->token, "");
  EXPECT_EQ(found->internal_url, "https://elsewhere.example");
  variables_["SHEPHERD_TOKEN"] = "mine";
  EXPECT_EQ(find()->token, "mine");
  EXPECT_EQ(find({"http://127.0.0.1:5/", "", ""})->internal_url, "http://127.0.0.1:6");  // the local one by its address
  variables_.erase("SHEPHERD_TOKEN");
  EXPECT_EQ(find({"http://localhost:5", "", ""})->token, "shp_local");
  EXPECT_EQ(find({"http://shepherd.localhost:5", "", ""})->public_url, "http://127.0.0.1:5");
  EXPECT_EQ(find({"", "http://elsewhere.example:6", ""})->token, "");
}

TEST_F(FindServerTest, NoServerSaysHowToStartOne) {
  Result<Destination> found = find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  EXPECT_NE(found.error().message.find("shepherd serve"), std::string::npos);
  std::ofstream(directory_ + "/shepherd/server.json") << "{broken";
  EXPECT_EQ(find().error().reason, "bad_server_record");
}

class ApiClientTest : public testing::Test {
 protected:
  ApiClient client() { return *ApiClient::create({server_.url(), server_.url(), "secret"}); }
  ScriptedServer server_;
};

TEST_F(ApiClientTest, CreatesATaskWithCredentialsAndReadsIt) {
  server_.then(reply(201, R"({"id":"t1","task":{"description":"first\nsecond"},"status":{"state":"running"},)"
                          R"("lastSequence":3,"usage":{"costUSD":0.5}})"));
  Result<CreatedTask> created = client().create_task(R"({"prompt":"x"})", "key-1");
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_FALSE(created->existed);
  EXPECT_EQ(created->task.label(), "first");
  EXPECT_EQ(created->task.last_sequence, 3u);
  EXPECT_DOUBLE_EQ(created->task.cost_usd, 0.5);
  net::Request request = server_.requests().front();
  EXPECT_EQ(request.header("authorization"), "Bearer secret");
  EXPECT_EQ(request.header("idempotency-key"), "key-1");
  EXPECT_EQ(request.header("content-type"), "application/json");
}

TEST_F(ApiClientTest, ListsFollowTheLinkHeader) {
  Answer first = reply(200, R"([{"id":"b"}])");
  first.headers.emplace_back("Link", "</api/v1/tasks?before=b>; rel=\"next\"");
  server_.then(first);
  server_.then(reply(200, R"([{"id":"a"}])"));
  ApiClient api = client();
  Result<TaskList> page = api.tasks({{"label", "team=a b"}});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->next, "/api/v1/tasks?before=b");
  Result<TaskList> second = api.next_tasks(page->next);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->next.empty());
  EXPECT_EQ(server_.targets().front(), "/api/v1/tasks?label=team%3Da%20b");
}

TEST_F(ApiClientTest, PostsEventsAsAStrictProducer) {
  server_.then(reply(200, R"({"status":"accepted","sequence":12,"producerSequence":4})"));
  Result<Posted> posted = client().post_events("a b", "{}\n", "import-1");
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(posted->sequence, 12u);
  EXPECT_EQ(posted->producer_sequence, 4u);
  net::Request request = server_.requests().front();
  EXPECT_EQ(request.target, "/api/v1/tasks/a%20b/events");
  EXPECT_EQ(request.header("shepherd-producer"), "import-1");
  EXPECT_EQ(request.header("content-type"), "application/x-ndjson");
}

TEST_F(ApiClientTest, ErrorsAreTheServers) {
  server_.then(reply(404, R"({"code":"unknown_task","detail":"There is no task x."})"));
  Result<TaskView> task = client().task("x");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::not_found);
  EXPECT_EQ(task.error().reason, "unknown_task");
  EXPECT_EQ(task.error().message, "There is no task x.");
  server_.then(reply(200, "<html>"));
  EXPECT_EQ(client().task("x").error().reason, "bad_response");
}

}  // namespace
}  // namespace shepherd
