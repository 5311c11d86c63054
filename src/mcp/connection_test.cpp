// A connection over a link that the test plays. The servers' words are as real servers print them.
#include "mcp/connection.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "json/scan.h"
#include "mcp/http_core.h"

namespace shepherd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto kConnectionPatience = std::chrono::seconds(10);

// server-everything 2026.8.31, shortened where nothing is read.
constexpr std::string_view kEverythingSays =
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"logging":{}},"serverInfo":{"name":"mcp-servers/everything","version":"2.0.0"}})";
// mcp-server-time 2026.10.19.
constexpr std::string_view kTimeSays =
    R"({"cacheScope":"private","capabilities":{"prompts":{"listChanged":false},"tools":{"listChanged":false}},"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-time","version":"2026.10.19"}}})";

class PlayedLink final : public McpLink {
 public:
  struct World {
    std::deque<McpOutgoing> sent;
    std::vector<std::int64_t> dropped;
    std::vector<std::string> versions;
    bool http = false, listening = false, stuck = false;
    std::vector<McpEra> made;
    McpLinkObserver* observer = nullptr;
  };
  PlayedLink(World& world, McpLinkObserver& observer) : world_(world) { world.observer = &observer; }
  void send(McpOutgoing message) override { world_.sent.push_back(std::move(message)); }
  void drop(std::int64_t id) override { world_.dropped.push_back(id); }
  void speak(std::string_view version) override { world_.versions.emplace_back(version); }
  void listen() override { world_.listening = true; }
  bool over_http() const override { return world_.http; }
  bool stuck() const override { return world_.stuck; }
  void end(std::function<void()> done) override { done(); }

 private:
  World& world_;
};

class McpConnections : public ::testing::Test, private McpConnectionObserver {
 protected:
  void connect() {
    McpConnectionParts parts{loop,
                             timers,
                             log,
                             [this](McpEra kind, McpLinkObserver& observer) {
                               world.made.push_back(kind);
                               return std::make_unique<PlayedLink>(world, observer);
                             },
                             "played",
                             "1.0",
                             wait};
    McpConnectionObserver& observer = *this;
    connection = std::make_unique<McpConnection>(std::move(parts), era, observer);
  }
  void on_tools(const std::vector<McpTool>& tools) override {
    ++lists;
    names.clear();
    for (const McpTool& tool : tools) names += tool.name + " ";
  }
  void on_connection_end(std::string why) override { ended = std::move(why); }

  template <class Fact>
  bool run_until(Fact fact) {
    auto until = steady_clock::now() + kConnectionPatience;
    while (!fact() && steady_clock::now() < until) loop.turn(steady_clock::now() + milliseconds(5));
    return fact();
  }
  // The next message that was sent; its method must be this.
  McpOutgoing next(std::string_view method) {
    EXPECT_TRUE(run_until([&] { return !world.sent.empty(); })) << "nothing was sent, wanted " << method;
    if (world.sent.empty()) return {};
    McpOutgoing message = std::move(world.sent.front());
    world.sent.pop_front();
    EXPECT_EQ(message.method, method) << message.text;
    EXPECT_EQ(message.text.find('\n'), std::string::npos);
    return message;
  }
  void say(const std::string& text) {
    auto message = read_message(text);
    ASSERT_TRUE(message) << text;
    world.observer->on_message(*std::move(message));
  }
  void reply(const McpOutgoing& to, std::string_view result) {
    say("{\"result\":" + std::string(result) + ",\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(to.id) + "}");
  }
  void refuse(const McpOutgoing& to, std::int64_t code, std::string_view message, std::string_view data = "null") {
    say("{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(to.id) + ",\"error\":{\"code\":" + std::to_string(code) +
        ",\"message\":\"" + std::string(message) + "\",\"data\":" + std::string(data) + "}}");
  }
  void be_legacy() {
    connect();
    refuse(next("server/discover"), -32601, "Method not found");
    reply(next("initialize"), kEverythingSays);
    next("notifications/initialized");
    reply(next("tools/list"), tools_named("echo"));
  }
  void be_modern() {
    connect();
    reply(next("server/discover"), kTimeSays);
    reply(next("tools/list"), tools_named("get_current_time"));
  }
  static std::string tools_named(const std::string& name, const std::string& more = "") {
    return R"({"tools":[{"name":")" + name + R"(","inputSchema":{"type":"object"}}])" + more + "}";
  }
  std::int64_t call(const std::string& tool, std::string_view arguments = "{}") {
    return connection->call(
        tool, arguments, [this](ToolOutcome result) { outcome = std::move(result); },
        [this](std::string_view line) { progress += std::string(line) + ";"; });
  }

  net::EventLoop loop;
  net::Timers timers{loop, {}};
  McpServerLog log{"played"};
  PlayedLink::World world;
  McpEra era = McpEra::unknown;
  milliseconds wait{60'000};
  int lists = 0;
  std::string names, ended, progress;
  std::optional<ToolOutcome> outcome;
  std::unique_ptr<McpConnection> connection;
};

// --- versions ---

TEST_F(McpConnections, ShakeHandsWithALegacyServer) {
  be_legacy();
  EXPECT_EQ(names, "echo ");
  EXPECT_EQ(era, McpEra::legacy);
  EXPECT_EQ(connection->protocol(), "2025-11-25");
  EXPECT_EQ(world.versions, (std::vector<std::string>{"2026-07-28", "", "2025-11-25"}));
  EXPECT_TRUE(world.listening);
}

TEST_F(McpConnections, NeedNoHandshakeWithAModernServer) {
  be_modern();
  EXPECT_EQ(names, "get_current_time ");
  EXPECT_EQ(era, McpEra::modern);
  EXPECT_TRUE(world.sent.empty());  // no subscription: its list never changes
}

TEST_F(McpConnections, PutVersionAndCapabilitiesIntoEveryModernRequest) {
  be_modern();
  call("get_current_time", "{\n  \"timezone\": \"UTC\"\n}");
  EXPECT_EQ(
      next("tools/call").text,
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_current_time","arguments":{"timezone":"UTC"},"_meta":{"progressToken":3,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"shepherd","version":"1.0"}}}})");
}

TEST_F(McpConnections, KeepTheKnownEra) {
  era = McpEra::legacy;
  connect();
  reply(next("initialize"), kEverythingSays);
}

TEST_F(McpConnections, ShakeHandsWithASilentProgram) {
  connect();
  McpOutgoing asked = next("server/discover");
  reply(next("initialize"), kEverythingSays);  // after kMcpProbeWait
  EXPECT_EQ(world.dropped, std::vector<std::int64_t>{asked.id});
}

TEST_F(McpConnections, BelieveALateModernAnswer) {
  connect();
  McpOutgoing asked = next("server/discover");
  next("initialize");
  reply(asked, kTimeSays);
  next("tools/list");
  EXPECT_EQ(era, McpEra::modern);
}

TEST_F(McpConnections, ShakeHandsAfterAnyOtherErrorOrStatus) {
  for (int way = 0; way < 4; ++way) {
    era = McpEra::unknown;
    world = {};
    world.http = way >= 2;
    connect();
    McpOutgoing asked = next("server/discover");
    if (way == 0) refuse(asked, -32000, "Bad Request: Server not initialized");
    if (way == 1) reply(asked, "{}");
    if (way == 2) world.observer->on_failed(asked.id, {McpFault::Kind::refused, 400, "400"});
    if (way == 3) world.observer->on_failed(asked.id, {McpFault::Kind::refused, 404, "404"});
    next("initialize");
  }
}

TEST_F(McpConnections, AskAgainInAVersionThatTheServerNames) {
  connect();
  refuse(next("server/discover"), -32022, "Unsupported protocol version",
         R"({"supported":["2026-07-28"],"requested":""})");
  reply(next("server/discover"), kTimeSays);
  next("tools/list");
}

TEST_F(McpConnections, EndWithAServerOfUnknownVersions) {
  connect();
  refuse(next("server/discover"), -32022, "Unsupported protocol version",
         R"({"supported":["2031-01-01"],"requested":""})");
  EXPECT_EQ(ended, "it speaks only 2031-01-01");
  ended.clear();
  connect();
  refuse(next("server/discover"), -32601, "Method not found");
  reply(next("initialize"), R"({"protocolVersion":"1999-01-01","capabilities":{}})");
  EXPECT_EQ(ended, "it speaks version \"1999-01-01\", which is not known here");
}

TEST_F(McpConnections, EndWithAServiceThatCannotServe) {
  world.http = true;
  connect();
  world.observer->on_failed(next("server/discover").id, {McpFault::Kind::refused, 503, "it answered 503"});
  EXPECT_EQ(ended, "it answered 503");
}

TEST_F(McpConnections, FallBackToTheOldestVersionOverHttp) {
  world.http = true;
  connect();
  world.observer->on_failed(next("server/discover").id, {McpFault::Kind::refused, 405, "it answered 405"});
  world.observer->on_failed(next("initialize").id, {McpFault::Kind::refused, 405, "it answered 405"});
  reply(next("initialize"), R"({"protocolVersion":"2024-11-05","capabilities":{"tools":{}}})");
  EXPECT_EQ(world.made, (std::vector<McpEra>{McpEra::unknown, McpEra::oldest}));
  EXPECT_EQ(era, McpEra::oldest);
}

// --- lists ---

TEST_F(McpConnections, ReadAllPages) {
  connect();
  reply(next("server/discover"), kTimeSays);
  reply(next("tools/list"), tools_named("one", R"(,"nextCursor":"a\"b")"));
  McpOutgoing second = next("tools/list");
  EXPECT_NE(second.text.find(R"("cursor":"a\"b")"), std::string::npos) << second.text;
  EXPECT_EQ(lists, 0);
  reply(second, tools_named("two", R"(,"nextCursor":"c")"));
  reply(next("tools/list"), tools_named("one"));
  EXPECT_EQ(names, "one two ");
}

TEST_F(McpConnections, DoNotFollowACursorThatRepeats) {
  connect();
  reply(next("server/discover"), kTimeSays);
  reply(next("tools/list"), tools_named("one", R"(,"nextCursor":"same")"));
  reply(next("tools/list"), tools_named("two", R"(,"nextCursor":"same")"));
  EXPECT_EQ(names, "one two ");
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(McpConnections, ListAgainAfterAChange) {
  connect();
  refuse(next("server/discover"), -32601, "Method not found");
  McpOutgoing begun = next("initialize");
  // server-everything says so before it has answered anything.
  say(R"({"method":"notifications/tools/list_changed","jsonrpc":"2.0"})");
  reply(begun, kEverythingSays);
  next("notifications/initialized");
  McpOutgoing list = next("tools/list");
  say(R"({"method":"notifications/tools/list_changed","jsonrpc":"2.0"})");
  reply(list, tools_named("old"));
  EXPECT_EQ(names, "old ");
  reply(next("tools/list"), tools_named("new"));
  EXPECT_EQ(names, "new ");
  // A list that fails later leaves the tools as they were.
  say(R"({"method":"notifications/tools/list_changed","jsonrpc":"2.0"})");
  refuse(next("tools/list"), -32603, "oops");
  EXPECT_EQ(names, "new ");
  EXPECT_EQ(ended, "");
}

TEST_F(McpConnections, SubscribeToChangesOfAModernServer) {
  connect();
  reply(next("server/discover"),
        R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})");
  reply(next("tools/list"), tools_named("old"));
  McpOutgoing subscribed = next("subscriptions/listen");
  EXPECT_NE(subscribed.text.find(R"("notifications":{"toolsListChanged":true})"), std::string::npos);
  std::string mark = R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + std::to_string(subscribed.id) + "}";
  say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{)" + mark +
      R"(,"notifications":{"toolsListChanged":true}}})");
  say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{)" + mark + "}}");
  reply(next("tools/list"), tools_named("new"));
  EXPECT_EQ(names, "new ");
  // The server ends the subscription: changes may have been missed until the next one.
  reply(subscribed, R"({"resultType":"complete"})");
  next("tools/list");
  next("subscriptions/listen");
}

TEST_F(McpConnections, EndIfThereIsNoFirstList) {
  connect();
  reply(next("server/discover"), kTimeSays);
  refuse(next("tools/list"), -32603, "database is down");
  EXPECT_EQ(ended, "it lists no tools: database is down");
}

TEST_F(McpConnections, AskNothingOfAServerWithoutTools) {
  connect();
  reply(next("server/discover"), R"({"supportedVersions":["2026-07-28"],"capabilities":{"prompts":{}}})");
  EXPECT_EQ(lists, 1);
  EXPECT_EQ(names, "");
  EXPECT_TRUE(world.sent.empty());
}

// --- calls ---

TEST_F(McpConnections, ReturnResultsAndErrors) {
  be_legacy();
  call("echo", R"({"message":"hi"})");
  McpOutgoing sent = next("tools/call");
  EXPECT_EQ(sent.tool, "echo");
  reply(sent, R"({"content":[{"type":"text","text":"Echo: hi"}]})");
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->success);
  EXPECT_EQ(outcome->content, "Echo: hi");
  outcome.reset();
  call("nothing");
  // An unknown tool, as the Python SDK reports it.
  refuse(next("tools/call"), -32602, "Unknown tool: nothing");
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->success);
  EXPECT_EQ(outcome->content, "Error: Unknown tool: nothing (error -32602 of MCP server \"played\")");
}

TEST_F(McpConnections, PassProgressOnAndWaitLonger) {
  wait = milliseconds(400);
  be_legacy();
  auto began = steady_clock::now();
  call("slow");
  McpOutgoing sent = next("tools/call");
  // As server-everything prints it.
  std::string id = std::to_string(sent.id);
  for (int step = 1; step <= 3; ++step) {
    auto until = steady_clock::now() + milliseconds(250);
    run_until([&] { return steady_clock::now() >= until; });
    say(R"({"method":"notifications/progress","params":{"progress":)" + std::to_string(step) +
        R"(,"total":3,"progressToken":)" + id + R"(},"jsonrpc":"2.0"})");
  }
  EXPECT_GE(steady_clock::now() - began, milliseconds(700));
  EXPECT_FALSE(outcome);
  EXPECT_EQ(progress, "1 of 3;");  // at most one line in kMcpProgressPause
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->content, "Error: MCP server \"played\": it did not answer tools/call within 0 s");
  EXPECT_EQ(next("notifications/cancelled").text,
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
                R"(,"reason":"timed out"}})");
}

TEST_F(McpConnections, IgnoreALateAnswer) {
  wait = milliseconds(50);
  be_legacy();
  call("slow");
  McpOutgoing sent = next("tools/call");
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  outcome.reset();
  reply(sent, R"({"content":[]})");
  EXPECT_FALSE(outcome);
  EXPECT_EQ(ended, "");
}

TEST_F(McpConnections, TellTheServerWhenACallIsCancelled) {
  be_legacy();
  std::int64_t number = call("slow");
  McpOutgoing sent = next("tools/call");
  connection->cancel(number);
  EXPECT_NE(next("notifications/cancelled").text.find("\"reason\":\"cancelled\""), std::string::npos);
  reply(sent, R"({"content":[]})");
  EXPECT_FALSE(outcome);
}

TEST_F(McpConnections, CancelByClosingOverModernHttp) {
  world.http = true;
  be_modern();
  std::int64_t number = call("get_current_time");
  McpOutgoing sent = next("tools/call");
  connection->cancel(number);
  EXPECT_EQ(world.dropped, std::vector<std::int64_t>{sent.id});
  EXPECT_TRUE(world.sent.empty());
}

TEST_F(McpConnections, TryAgainWithTheStateThatAServerGave) {
  be_modern();
  call("get_current_time");
  McpOutgoing first = next("tools/call");
  reply(first, R"({"resultType":"input_required","requestState":"{\"n\":1}"})");
  McpOutgoing second = next("tools/call");
  EXPECT_NE(second.id, first.id);
  EXPECT_NE(second.text.find(R"(,"requestState":"{\"n\":1}")"), std::string::npos) << second.text;
  EXPECT_EQ(second.text.find("inputResponses"), std::string::npos);
  // A question that no operator can answer is declined, and there is no state this time.
  reply(second,
        R"({"resultType":"input_required","inputRequests":{"confirm":{"method":"elicitation/create","params":{}}}})");
  McpOutgoing third = next("tools/call");
  EXPECT_NE(third.text.find(R"(,"inputResponses":{"confirm":{"action":"decline"}})"), std::string::npos) << third.text;
  EXPECT_EQ(third.text.find("requestState"), std::string::npos);
  reply(third,
        R"({"resultType":"input_required","inputRequests":{"x":{"method":"sampling/createMessage","params":{}}}})");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->content,
            "Error: MCP server \"played\": it asks for sampling/createMessage, which is not offered to it");
}

TEST_F(McpConnections, DoNotTryForever) {
  be_modern();
  call("get_current_time");
  for (int round = 0; round < 5; ++round)
    reply(next("tools/call"), R"({"resultType":"input_required","requestState":"x"})");
  EXPECT_FALSE(outcome);
  connection->cancel(1);
}

TEST_F(McpConnections, ReadTheListAgainWhenHeadersDoNotFit) {
  world.http = true;
  connect();
  reply(next("server/discover"), kTimeSays);
  reply(next("tools/list"), tools_named("sql"));
  call("sql", R"({"region":"eu"})");
  McpOutgoing sent = next("tools/call");
  EXPECT_TRUE(sent.headers.empty());
  refuse(sent, -32020, "Header mismatch");
  reply(
      next("tools/list"),
      R"({"tools":[{"name":"sql","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]})");
  McpOutgoing again = next("tools/call");
  EXPECT_EQ(again.headers, (net::HeaderList{{"Mcp-Param-Region", "eu"}}));
  refuse(again, -32020, "Header mismatch");
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->success);
}

TEST_F(McpConnections, BeginAForgottenSessionAnewAndSendAgain) {
  world.http = true;
  connect();
  world.observer->on_failed(next("server/discover").id, {McpFault::Kind::refused, 400, "400"});
  reply(next("initialize"), kEverythingSays);
  next("notifications/initialized");
  reply(next("tools/list"), tools_named("echo"));
  call("echo");
  McpOutgoing sent = next("tools/call");
  world.observer->on_failed(sent.id, {McpFault::Kind::session_lost, 404, "404"});
  reply(next("initialize"), kEverythingSays);
  next("notifications/initialized");
  McpOutgoing again = next("tools/call");
  EXPECT_EQ(again.text, sent.text);
  reply(again, R"({"content":[{"type":"text","text":"once"}]})");
  EXPECT_EQ(outcome->content, "once");
}

// --- the other direction, and the end ---

TEST_F(McpConnections, AnswerWhatAServerAsks) {
  be_legacy();
  say(R"({"method":"ping","jsonrpc":"2.0","id":"p-1"})");
  EXPECT_EQ(next("").text, R"({"jsonrpc":"2.0","id":"p-1","result":{}})");
  say(R"({"method":"roots/list","jsonrpc":"2.0","id":0})");
  EXPECT_EQ(next("").text,
            R"({"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"this client does not offer roots/list"}})");
}

TEST_F(McpConnections, FailCallsWhenTheServerGoes) {
  be_legacy();
  call("echo");
  next("tools/call");
  world.observer->on_closed("it ended: exit 1");
  EXPECT_EQ(ended, "it ended: exit 1");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(
      outcome->content,
      "Error: MCP server \"played\" went away before the result: it ended: exit 1. The call may have had an effect.");
  outcome.reset();
  call("echo");
  EXPECT_FALSE(outcome);
  ASSERT_TRUE(run_until([&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->content, "Error: MCP server \"played\": it is not ready");
}

TEST_F(McpConnections, EndWithAServerThatFloods) {
  be_legacy();
  std::size_t sent = 0;
  while (ended.empty() && sent < 2 * kMaxMcpFloodMessages) {
    say(R"({"method":"notifications/message","params":{"level":"info"},"jsonrpc":"2.0"})");
    ++sent;
  }
  EXPECT_EQ(sent, kMaxMcpFloodMessages + 1);
  ended.clear();
  world = {};
  era = McpEra::unknown;
  be_legacy();
  world.observer->on_noise(kMaxMcpFloodBytes + 1);
  EXPECT_NE(ended, "");
}

TEST_F(McpConnections, EndWithAProgramThatDoesNotRead) {
  wait = milliseconds(50);
  be_legacy();
  call("echo");
  world.stuck = true;
  ASSERT_TRUE(run_until([&] { return !ended.empty(); }));
  EXPECT_EQ(ended, "it does not read its input");
  EXPECT_TRUE(outcome);
}

}  // namespace
}  // namespace shepherd
