// The two kinds of links: real programs, whose servers are a few lines of shell, and a scripted HTTP server.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "mcp/event_link.h"
#include "mcp/http_link.h"
#include "mcp/limits.h"
#include "mcp/stdio_link.h"
#include "net/raw_server_for_test.h"

namespace shepherd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto kLinkPatience = std::chrono::seconds(20);

class LinkRecorder final : public McpLinkObserver {
 public:
  void on_message(McpMessage&& message) override {
    messages.push_back((message.kind == McpMessage::Kind::notification ? message.method : message.id) + " " +
                       message.body);
  }
  void on_noise(std::size_t bytes) override { noise += bytes; }
  void on_failed(std::int64_t id, McpFault fault) override {
    failed = id;
    why = std::move(fault);
  }
  void on_closed(std::string text) override { closed = std::move(text); }

  std::vector<std::string> messages;
  std::size_t noise = 0;
  std::int64_t failed = 0;
  McpFault why;
  std::string closed;
};

class McpLinks : public ::testing::Test {
 protected:
  McpLinks() { std::signal(SIGPIPE, SIG_IGN); }

  template <class Fact>
  bool run_until(Fact fact) {
    auto until = steady_clock::now() + kLinkPatience;
    while (!fact() && steady_clock::now() < until) loop.turn(steady_clock::now() + milliseconds(5));
    return fact();
  }
  // Plays the peer's side, which blocks, while the loop turns here.
  bool run_beside(const std::function<void()>& play) {
    std::atomic<bool> played = false;
    std::thread thread([&] {
      play();
      played = true;
      loop.post([] {});
    });
    bool done = run_until([&] { return played.load(); });
    thread.join();
    return done;
  }
  static McpOutgoing message(std::int64_t id, std::string method) {
    McpOutgoing made;
    made.id = id;
    made.method = std::move(method);
    made.text = id == 0 ? notification_text(made.method, "") : request_text(id, made.method, "{}");
    return made;
  }

  net::EventLoop loop;
  net::Timers timers{loop, {}};
  SystemClock clock;
  McpServerLog log{"tested"};
  LinkRecorder seen;
};

// --- programs ---

class McpPrograms : public McpLinks {
 protected:
  void start(const std::string& script) {
    AgentSpec spec;
    spec.command = {"/bin/sh", "-c", script};
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.directory = "/";
    spec.warden_program = MCP_CHECK;
    link.emplace(McpChildParts{loop, timers, clock}, std::move(spec), log, seen);
  }
  std::optional<McpStdioLink> link;
};

TEST_F(McpPrograms, SpeakInLines) {
  start(
      R"(echo 'A banner'; read line; printf '{"jsonrpc":"2.0","id":1,'; sleep 0.05; echo '"result":{"a":1}}'; echo; read line; echo "$line")");
  link->send(message(1, "one"));
  ASSERT_TRUE(run_until([&] { return seen.messages.size() == 1; }));
  EXPECT_EQ(seen.messages[0], "1 {\"a\":1}");
  EXPECT_EQ(seen.noise, std::string_view("A banner").size());
  link->send(message(0, "back"));
  ASSERT_TRUE(run_until([&] { return seen.messages.size() == 2; }));
  EXPECT_EQ(seen.messages[1], "back ");
  ASSERT_TRUE(run_until([&] { return !seen.closed.empty(); }));
  EXPECT_EQ(seen.closed, "it ended: exit 0");
}

TEST_F(McpPrograms, HaveTheirLastWords) {
  start("echo 'first' >&2; echo 'no such database' >&2; exit 7");
  ASSERT_TRUE(run_until([&] { return !seen.closed.empty(); }));
  EXPECT_EQ(seen.closed, "it ended: exit 7; no such database");
}

TEST_F(McpPrograms, ThatDoNotExistSaySo) {
  AgentSpec spec;
  spec.command = {"/no/such/program"};
  spec.directory = "/";
  spec.warden_program = MCP_CHECK;
  link.emplace(McpChildParts{loop, timers, clock}, std::move(spec), log, seen);
  link->send(message(1, "one"));
  ASSERT_TRUE(run_until([&] { return !seen.closed.empty(); }));
  EXPECT_NE(seen.closed.find("/no/such/program"), std::string::npos) << seen.closed;
}

TEST_F(McpPrograms, AreEndedForALineThatIsTooLong) {
  start("head -c 100000000 /dev/zero | tr '\\0' x; sleep 1000");
  ASSERT_TRUE(run_until([&] { return !seen.closed.empty(); }));
  EXPECT_EQ(seen.closed, "it sent a line of more than 16777216 bytes");
}

TEST_F(McpPrograms, ThatDoNotReadAreStuck) {
  start("sleep 1000");
  McpOutgoing large = message(0, "news");
  large.text.append(4 * kMiB, ' ');
  for (int i = 0; i < 5; ++i) link->send(large);
  link->send(message(9, "one"));
  ASSERT_TRUE(run_until([&] { return link->stuck(); }));
  large.id = 10;
  link->send(large);
  ASSERT_TRUE(run_until([&] { return seen.failed == 10; }));
  EXPECT_EQ(seen.why.message, "it does not read its input");
}

TEST_F(McpPrograms, EndWithTheirInput) {
  start("while read line; do :; done; echo bye >&2");
  bool ended = false;
  auto began = steady_clock::now();
  link->end([&] { ended = true; });
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_LT(steady_clock::now() - began, kMcpExitWait);
  EXPECT_EQ(log.last_words(), "bye");
}

TEST_F(McpPrograms, ThatDoNotEndAreKilledWithAllTheirProcesses) {
  start(
      "trap '' TERM INT; sleep 1000 & echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"$!\\\"}\"; while true; do "
      "sleep 1; done");
  ASSERT_TRUE(run_until([&] { return !seen.messages.empty(); }));
  pid_t child = std::stoi(seen.messages[0]);
  ASSERT_EQ(::kill(child, 0), 0);
  bool ended = false;
  link->end([&] { ended = true; });
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(McpPrograms, AreKilledWithTheirLink) {
  start("sleep 1000 & echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"$!\\\"}\"; wait");
  ASSERT_TRUE(run_until([&] { return !seen.messages.empty(); }));
  pid_t child = std::stoi(seen.messages[0]);
  link.reset();
  EXPECT_NE(::kill(child, 0), 0);
  link.reset();
  start("sleep 1000");
  link.reset();  // while it starts
  run_until([] { return true; });
}

// --- HTTP ---

class McpServices : public McpLinks {
 protected:
  McpServices() {
    config.name = "tested";
    config.headers["X-Mark"] = "marked-value";
  }
  void open() { core.emplace(config, server.url("/mcp"), loop, timers, clock); }
  void connect() {
    open();
    link.emplace(*core, seen);
  }
  // The next request; empty if none comes.
  std::string read_request() {
    if (!peer) peer = server.accept();
    if (!peer) return "";
    std::string head = peer->read_head();
    std::size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    std::size_t size = std::stoul(head.substr(at + 16));
    std::string body;
    while (body.size() < size) body += peer->read_until("}");
    return head + body;
  }
  void answer(const std::string& status, const std::string& media, const std::string& body,
              const std::string& more = "") {
    peer->send("HTTP/1.1 " + status + "\r\nContent-Type: " + media +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" + body);
  }
  void stream(const std::string& events, bool finished) {
    peer->send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events);
    if (finished) peer.reset();
  }
  static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

  McpServerConfig config;
  net::RawServer server;
  std::unique_ptr<net::RawPeer> peer;
  std::optional<McpHttpCore> core;
  std::optional<McpHttpLink> link;
};

TEST_F(McpServices, AnswerWithADocument) {
  connect();
  link->speak(kMcpModern);
  McpOutgoing call = message(7, "tools/call");
  call.tool = "größe";
  call.headers = {{"Mcp-Param-Region", "eu"}};
  link->send(call);
  std::string asked;
  ASSERT_TRUE(run_beside([&] {
    asked = read_request();
    answer("200 OK", "application/json; charset=utf-8", R"({"jsonrpc":"2.0","id":7,"result":{}})");
  }));
  ASSERT_TRUE(run_until([&] { return !seen.messages.empty(); }));
  EXPECT_EQ(seen.messages[0], "7 {}");
  for (std::string_view part : {"POST /mcp HTTP/1.1", "Accept: application/json, text/event-stream",
                                "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
                                "Mcp-Name: =?base64?Z3LDtsOfZQ==?=", "Mcp-Param-Region: eu", "X-Mark: marked-value"}) {
    EXPECT_TRUE(has(asked, part)) << part << "\n" << asked;
  }
}

TEST_F(McpServices, KeepTheSessionUntilTheyForgetIt) {
  connect();
  link->speak("");
  link->send(message(1, "initialize"));
  std::string second, third;
  ASSERT_TRUE(run_beside([&] {
    EXPECT_FALSE(has(read_request(), "MCP-Protocol-Version"));
    answer("200 OK", "application/json", R"({"jsonrpc":"2.0","id":1,"result":{}})", "Mcp-Session-Id: abc-1\r\n");
  }));
  ASSERT_TRUE(run_until([&] { return seen.messages.size() == 1; }));
  link->speak("2025-11-25");
  link->send(message(2, "tools/list"));
  ASSERT_TRUE(run_beside([&] {
    second = read_request();
    // As server-everything answers for a session that it does not know.
    answer(
        "400 Bad Request", "application/json",
        R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null})");
  }));
  EXPECT_TRUE(has(second, "Mcp-Session-Id: abc-1") && has(second, "MCP-Protocol-Version: 2025-11-25")) << second;
  EXPECT_FALSE(has(second, "Mcp-Method"));
  ASSERT_TRUE(run_until([&] { return seen.failed == 2; }));
  EXPECT_EQ(seen.why.kind, McpFault::Kind::session_lost);
  // The end of a session is announced.
  bool ended = false;
  link->end([&] { ended = true; });
  ASSERT_TRUE(run_beside([&] {
    third = read_request();
    answer("200 OK", "text/plain", "");
  }));
  EXPECT_TRUE(has(third, "DELETE /mcp") && has(third, "Mcp-Session-Id: abc-1")) << third;
  ASSERT_TRUE(run_until([&] { return ended; }));
}

TEST_F(McpServices, ResumeAStreamThatEndsBeforeTheAnswer) {
  connect();
  link->speak("2025-11-25");
  link->send(message(3, "tools/call"));
  std::string resumed, again;
  steady_clock::time_point closed_at, asked_at;
  ASSERT_TRUE(run_beside([&] {
    read_request();
    // The first event, as the TypeScript SDK sends it.
    stream("id: 5a_1\nretry: 150\ndata: \n\n", true);
    closed_at = steady_clock::now();
    resumed = read_request();
    asked_at = steady_clock::now();
    stream("id: 5a_2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n", true);
    again = read_request();
    stream("id: 5a_3\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"x\":1}}\n\n", true);
  }));
  ASSERT_TRUE(run_until([&] { return seen.messages.size() == 2; }));
  EXPECT_TRUE(has(resumed, "GET /mcp") && has(resumed, "Last-Event-ID: 5a_1") &&
              has(resumed, "Accept: text/event-stream"))
      << resumed;
  EXPECT_GE(asked_at - closed_at, milliseconds(140));
  EXPECT_TRUE(has(again, "Last-Event-ID: 5a_2")) << again;
  EXPECT_EQ(seen.messages[1], "3 {\"x\":1}");
  EXPECT_EQ(seen.failed, 0);
}

TEST_F(McpServices, DoNotResumeWhatCannotBe) {
  connect();
  link->speak(kMcpModern);
  link->send(message(3, "tools/call"));
  ASSERT_TRUE(run_beside([&] {
    read_request();
    stream("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n", true);
  }));
  ASSERT_TRUE(run_until([&] { return seen.failed == 3; }));
  EXPECT_EQ(seen.why.kind, McpFault::Kind::broke_off);
}

TEST_F(McpServices, MayRefuse) {
  connect();
  link->speak(kMcpModern);
  link->send(message(4, "server/discover"));
  ASSERT_TRUE(run_beside([&] {
    read_request();
    answer("400 Bad Request", "application/json",
           R"({"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":[]}}})");
  }));
  ASSERT_TRUE(run_until([&] { return seen.messages.size() == 1; }));
  EXPECT_EQ(seen.messages[0], "4 {\"supported\":[]}");
  link->send(message(5, "tools/list"));
  ASSERT_TRUE(run_beside([&] {
    read_request();
    answer("500 Internal Server Error", "text/plain", "it said marked-value");
  }));
  ASSERT_TRUE(run_until([&] { return seen.failed == 5; }));
  EXPECT_EQ(seen.why.status, 500);
  EXPECT_EQ(seen.why.message, "it answered 500: it said (hidden)");
}

TEST_F(McpServices, AreLeftWhenTheirAnswerIsNotWanted) {
  connect();
  link->speak(kMcpModern);
  link->send(message(6, "tools/call"));
  ASSERT_TRUE(run_beside([&] {
    read_request();
    stream(": alive\n\n", false);
  }));
  link->drop(6);
  EXPECT_TRUE(run_beside([&] { EXPECT_TRUE(peer->at_end()); }));
  EXPECT_EQ(seen.failed, 0);
}

TEST_F(McpServices, AreLeftWhenTheySendTooMuch) {
  connect();
  link->speak(kMcpModern);
  link->send(message(6, "tools/call"));
  ASSERT_TRUE(run_beside([&] {
    read_request();
    stream("data: ", false);
    std::string piece(1 * kMiB, 'x');
    while (peer->send(piece)) {
    }
  }));
  ASSERT_TRUE(run_until([&] { return seen.failed == 6; }));
  EXPECT_EQ(seen.why.message, "it sent an event of more than 16777216 bytes");
}

TEST_F(McpServices, OfTheOldestVersionNameTheirAddress) {
  open();
  McpEventLink oldest(*core, seen);
  oldest.send(message(1, "initialize"));
  std::unique_ptr<net::RawPeer> events;
  std::string posted;
  ASSERT_TRUE(run_beside([&] {
    EXPECT_TRUE(has(read_request(), "GET /mcp"));
    stream("event: endpoint\ndata: /messages/?session_id=1\n\n", false);
    events = std::move(peer);
    posted = read_request();
    answer("202 Accepted", "text/plain", "Accepted");
    events->send("event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r\n");
  }));
  ASSERT_TRUE(run_until([&] { return seen.messages.size() == 1; }));
  EXPECT_TRUE(has(posted, "POST /messages/?session_id=1")) << posted;
  events->close();
  ASSERT_TRUE(run_until([&] { return !seen.closed.empty(); }));
}

TEST(McpEndpoint, StaysOnItsServer) {
  net::Url base{false, "127.0.0.1", "80", "/a/sse?x=1"};
  EXPECT_EQ(endpoint_of(base, "/messages?s=1")->target, "/messages?s=1");
  EXPECT_EQ(endpoint_of(base, "messages?s=1")->target, "/a/messages?s=1");
  EXPECT_EQ(endpoint_of(base, "http://127.0.0.1:80/m")->target, "/m");
  for (std::string_view wrong : {"http://other/m", "https://127.0.0.1:80/m", "//other/m", "", "/a b", "/a\r\nX: y"}) {
    EXPECT_FALSE(endpoint_of(base, wrong)) << wrong;
  }
}

}  // namespace
}  // namespace shepherd
