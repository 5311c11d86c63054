// Runs the whole program against a real server on free ports: what a person types, and the output.
#include "host/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "host/data_lock.h"
#include "host/service_notify.h"
#include "terminal/line_input.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct Ran {
  int code = 0;
  std::string out, err;
};

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "server_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    data_ = directory_ + "/data";
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  Config config(const std::string& data) {
    Config config;
    config.data = data;
    config.public_port.listen = config.internal.listen = config.grpc.listen = "127.0.0.1:0";
    return config;
  }
  void start() {
    Result<std::unique_ptr<Server>> started = Server::start(config(data_));
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  Ran run(std::vector<std::string> words, const std::string& data = "") {
    Ran ran;
    std::map<std::string, std::string> variables{{"HOME", directory_}, {"SHEPHERD_DATA", data.empty() ? data_ : data}};
    Environment environment = [variables](const char* name) {
      auto found = variables.find(name);
      return found == variables.end() ? std::string() : found->second;
    };
    Context context{environment, Output(ran.out), Output(ran.err), {}};
    std::vector<const char*> arguments{"shepherd"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    ran.code = run_program(static_cast<int>(arguments.size()), arguments.data(), context);
    return ran;
  }
  // Events of an export, without the members that each server sets itself.
  static std::vector<json::object> events_of(const std::string& exported) {
    std::vector<json::object> events;
    std::istringstream lines(exported);
    for (std::string line; std::getline(lines, line);) {
      json::object event = json::parse(line).get_object();
      if (event.contains("task")) continue;
      for (const char* stamped : {"receivedAt", "producer"}) event.erase(stamped);
      events.push_back(std::move(event));
    }
    return events;
  }

  std::string directory_, data_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ATaskFromCreationToItsEnd) {
  start();
  EXPECT_EQ(run({"tasks", "create", "--id", "hello", "--label", "team=web", "Say", "hello"}).out, "hello\n");
  EXPECT_EQ(run({"post", "hello", "--type", "tool_call", "--tool", "Read", "Reading a.go"}).code, 0);
  EXPECT_EQ(run({"post", "hello", "--state", "completed", "all done"}).code, 0);

  Ran watched = run({"watch", "hello"});
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_NE(watched.out.find("Reading a.go"), std::string::npos) << watched.out;
  EXPECT_NE(watched.err.find("completed"), std::string::npos) << watched.err;

  Ran listed = run({"tasks", "--label", "team=web", "--state", "completed"});
  EXPECT_NE(listed.out.find("hello"), std::string::npos) << listed.out << listed.err;
  EXPECT_EQ(run({"post", "hello", "just after the end"}).code, 0);  // kept and marked late
  EXPECT_EQ(run({"tasks", "delete", "hello"}).code, 0);
  EXPECT_EQ(run({"tasks", "show", "hello"}).code, 5);
}

TEST_F(ServerTest, WatchOfAFailedTaskExitsWith7AndFiltersWork) {
  start();
  run({"tasks", "create", "--id", "t", "x"});
  for (const char* text : {"one", "two", "three"}) run({"post", "t", text});
  run({"post", "t", "--state", "failed", "no"});
  Ran all = run({"watch", "t", "--json"});
  EXPECT_EQ(all.code, 7);
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 4);
  Ran tail = run({"watch", "t", "--json", "--tail", "2"});
  EXPECT_EQ(std::count(tail.out.begin(), tail.out.end(), '\n'), 2);
  Ran after = run({"watch", "t", "--json", "--after", "1", "--types", "log"});
  EXPECT_EQ(std::count(after.out.begin(), after.out.end(), '\n'), 2) << after.out;
}

TEST_F(ServerTest, AgentOutputCannotReachTheTerminal) {
  start();
  run({"tasks", "create", "--id", "t", "--title", "\x1b[2Jboo", "x"});
  run({"post", "t", "evil \x1b]0;title\a\x1b[31mtext"});
  run({"post", "t", "--state", "completed"});
  for (const Ran& ran : {run({"watch", "t"}), run({"tasks"}), run({"tasks", "show", "t"})}) {
    EXPECT_EQ((ran.out + ran.err).find('\x1b'), std::string::npos) << ran.out;
  }
}

TEST_F(ServerTest, ExportAndImportKeepEveryEventAndRepeatAddsNothing) {
  start();
  run({"tasks", "create", "--id", "t", "--label", "a=b", "prompt"});
  run({"post", "t", "--type", "tool_call", "--tool", "Bash", "--event-data", R"({"n":0.1})", "go test"});
  run({"post", "t", "--type", "finding", "found"});
  run({"post", "t", "--state", "completed", "done"});
  Ran exported = run({"export", "--all", "--detail"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  std::string file = directory_ + "/all.ndjson";
  std::ofstream(file) << exported.out;

  // Importing into the original server adds nothing.
  EXPECT_EQ(run({"import", file, "--json"}).out, "{\"tasks\":1,\"events\":3,\"added\":0}\n");

  Result<std::unique_ptr<Server>> second = Server::start(config(directory_ + "/second"));
  ASSERT_TRUE(second) << second.error().message;
  std::string other = directory_ + "/second";
  EXPECT_EQ(run({"import", file, "--json"}, other).out, "{\"tasks\":1,\"events\":3,\"added\":3}\n");
  EXPECT_EQ(run({"import", file, "--json"}, other).out, "{\"tasks\":1,\"events\":3,\"added\":0}\n");
  EXPECT_EQ(events_of(run({"export", "t", "--detail"}, other).out), events_of(exported.out));
  second->reset();

  // A different log under the same id is not changed.
  second = Server::start(config(directory_ + "/third"));
  ASSERT_TRUE(second) << second.error().message;
  run({"tasks", "create", "--id", "t", "something else"}, directory_ + "/third");
  run({"post", "t", "its own event"}, directory_ + "/third");
  Ran refused = run({"import", file}, directory_ + "/third");
  EXPECT_EQ(refused.code, 6);
  EXPECT_NE(refused.err.find("line 2"), std::string::npos) << refused.err;
}

// A log that continued after its end, and an operator's command: only a server may write either.
TEST_F(ServerTest, ImportBringsInWhatOnlyAServerMayWrite) {
  start();
  std::string file = directory_ + "/odd.ndjson";
  std::ofstream(file)
      << R"({"task":{"id":"odd","task":{"description":"x"},"callbackURL":"http://evil.example"}})"
      << "\n"
      << R"({"sequence":5,"timestamp":"2026-01-01T00:00:00.000Z","type":"log","summary":"first"})"
      << "\n"
      << R"({"sequence":6,"timestamp":"2026-01-01T00:00:01Z","type":"status","summary":"lost","data":{"state":"failed"}})"
      << "\n"
      << R"({"sequence":7,"timestamp":"2026-01-01T00:00:02Z","type":"log","summary":"late","late":true})" << "\n"
      << R"({"sequence":8,"timestamp":"2026-01-01T00:00:03Z","type":"command","summary":"stop","data":{"kind":"stop"}})"
      << "\n";
  Ran first = run({"import", file, "--json"});
  EXPECT_EQ(first.out, "{\"tasks\":1,\"events\":4,\"added\":4}\n") << first.err;
  EXPECT_EQ(run({"import", file, "--json"}).out, "{\"tasks\":1,\"events\":4,\"added\":0}\n");
  std::vector<std::string> types;
  for (const json::object& event : events_of(run({"export", "odd"}).out)) {
    types.emplace_back(event.at("type").get_string());
  }
  EXPECT_EQ(types, (std::vector<std::string>{"log", "log", "imported_command", "status"}));
  EXPECT_EQ(run({"watch", "odd"}).code, 7);

  std::ofstream(file) << R"({"type":"log"})" << "\n";
  Ran headless = run({"import", file});
  EXPECT_EQ(headless.code, 2);
  EXPECT_NE(headless.err.find("line 1"), std::string::npos) << headless.err;
}

TEST_F(ServerTest, TokensOpenDoorsUntilTheyAreRevoked) {
  start();
  Ran made = run({"token", "create", "ann", "--scope", "viewer", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  json::object token = json::parse(made.out).get_object();
  Result<ApiClient> viewer =
      ApiClient::create({server_->public_url(), server_->internal_url(), std::string(token["secret"].get_string())});
  ASSERT_TRUE(viewer);
  EXPECT_TRUE(viewer->tasks({}));
  EXPECT_EQ(viewer->create_task(R"({"prompt":"x"})").error().code, ErrorCode::permission_denied);
  EXPECT_NE(run({"token", "list"}).out.find("ann"), std::string::npos);
  EXPECT_EQ(run({"token", "revoke", std::string(token["id"].get_string())}).code, 0);
  EXPECT_EQ(viewer->tasks({}).error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(run({"token", "revoke", "nobody"}).code, 5);
  EXPECT_EQ(run({"token", "login-link"}).out.rfind(server_->page_url() + "/login?code=", 0), 0u);
  EXPECT_TRUE(server_->page_url().starts_with("http://shepherd.localhost:"));
}

TEST_F(ServerTest, ARestartKeepsTasksTokensAndNumbers) {
  start();
  run({"tasks", "create", "--id", "t", "x"});
  run({"post", "t", "one"});
  std::ifstream file(server_->admin_token_file());
  std::string before((std::istreambuf_iterator<char>(file)), {});
  server_.reset();
  EXPECT_EQ(run({"tasks"}).code, 3);  // the server removed its record
  start();
  std::ifstream again(server_->admin_token_file());
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(again)), {}), before);
  EXPECT_EQ(run({"post", "t", "two", "--json"}).out, "{\"posted\":1,\"sequence\":2}\n");
}

TEST_F(ServerTest, ASecondServerIsToldWhoHoldsTheData) {
  start();
  Result<std::unique_ptr<Server>> second = Server::start(config(data_));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, "data_in_use");
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos) << second.error().message;
  EXPECT_EQ(run({"tasks"}).code, 0);  // the first server still works
}

TEST_F(ServerTest, ATakenPortNamesTheAddress) {
  start();
  Config taken = config(directory_ + "/other");
  taken.internal.listen = server_->internal_url().substr(std::string("http://").size());
  Result<std::unique_ptr<Server>> second = Server::start(taken);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(taken.internal.listen), std::string::npos) << second.error().message;
}

TEST_F(ServerTest, BackupWhileRunningOpensAsAServersData) {
  start();
  run({"tasks", "create", "--id", "t", "x"});
  run({"post", "t", "one"});
  std::string copy = directory_ + "/restored/shepherd.db";
  std::filesystem::create_directories(directory_ + "/restored");
  Ran backup = run({"backup", copy});
  ASSERT_EQ(backup.code, 0) << backup.err;
  EXPECT_EQ(run({"backup", copy}).code, 6);
  Ran nowhere = run({"backup", directory_ + "/no-such-directory/copy.db"});
  EXPECT_EQ(nowhere.code, 2) << "no server is away, so trying again cannot help";
  EXPECT_NE(nowhere.err.find("there is no directory"), std::string::npos) << nowhere.err;
  Result<std::unique_ptr<Server>> restored = Server::start(config(directory_ + "/restored"));
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(events_of(run({"export", "t"}, directory_ + "/restored").out), events_of(run({"export", "t"}).out));
}

TEST_F(ServerTest, DoctorFindsAHealthyServerAndABrokenDatabase) {
  start();
  Ran healthy = run({"doctor", "--json"});
  EXPECT_EQ(healthy.code, 0) << healthy.out;
  EXPECT_NE(healthy.out.find("\"subject\":\"search\""), std::string::npos);
  server_.reset();
  std::ofstream(data_ + "/shepherd.db", std::ios::binary | std::ios::trunc) << std::string(100'000, 'x');
  Ran broken = run({"doctor"});
  EXPECT_EQ(broken.code, 1) << broken.out;
  EXPECT_NE(broken.out.find("FAIL  database"), std::string::npos) << broken.out;
}

TEST(LineInput, LastLineCountsAndEmptyOnesDoNot) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    std::string text = "one\r\n\n" + std::string(200'000, 'x') + "\nlast";
    const char* at = text.data();
    for (std::size_t left = text.size(); left > 0;) {
      ssize_t put = write(ends[1], at, left);
      ASSERT_GT(put, 0);
      at += put;
      left -= static_cast<std::size_t>(put);
    }
    close(ends[1]);
  });
  LineInput input(ends[0]);
  std::vector<std::string> lines;
  while (true) {
    Result<std::vector<std::string>> more = input.next(2, 1'000);
    ASSERT_TRUE(more);
    if (more->empty()) break;
    lines.insert(lines.end(), more->begin(), more->end());
  }
  writer.join();
  close(ends[0]);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", std::string(200'000, 'x'), "last"}));
}

TEST(ServiceNotify, SpeaksToAnAbstractSocket) {
  std::string name = "shepherd-test-" + std::to_string(getpid());
  int receiver = socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(bind(receiver, reinterpret_cast<sockaddr*>(&address), size), 0);
  ServiceNotify notify([&](const char* variable) -> std::string {
    std::string wanted = variable;
    return wanted == "NOTIFY_SOCKET" ? "@" + name : wanted == "WATCHDOG_USEC" ? "2000000" : "";
  });
  EXPECT_EQ(notify.watchdog_interval(), std::chrono::milliseconds(1'000));
  notify.send("READY=1");
  char text[32]{};
  EXPECT_EQ(recv(receiver, text, sizeof text, MSG_DONTWAIT), 7);
  EXPECT_STREQ(text, "READY=1");
  close(receiver);
}

}  // namespace
}  // namespace shepherd
