// Drives src/mcp against one MCP server, for the conformance suite and for tests:
//
//   mcp_check URL                     connects, calls tools, prints their outcomes as JSON lines
//   mcp_check -- PROGRAM ARGUMENT…    the same with a program
//
// It calls what MCP_CONFORMANCE_CONTEXT names ({"toolCalls": [{"name": …, "arguments": {…}}]}), and otherwise each tool
// that the server lists, with arguments made from its schema. Exit code 0: the server was ready and all calls ended.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "json/scan.h"
#include "json/write.h"
#include "mcp/server.h"
#include "net/event_loop.h"
#include "net/timers.h"
#include "process/warden.h"

namespace {

using namespace shepherd;
using std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(25);

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// One value for each property, of its type.
std::string made_arguments(std::string_view schema) {
  std::string made = "{";
  for (JsonMembers members(find_member(schema, "properties")); members.next();) {
    std::string type = text_member(members.value(), "type");
    std::string value = type == "number" || type == "integer" ? "5" : type == "boolean" ? "true" : "\"x\"";
    if (type == "object") value = "{}";
    if (type == "array") value = "[]";
    made += (made.size() > 1 ? ",\"" : "\"") + std::string(members.key()) + "\":" + value;
  }
  return made + "}";
}

struct Wanted {
  std::string tool, arguments;
};

std::vector<Wanted> wanted_calls(const std::vector<McpTool>& tools) {
  std::vector<Wanted> calls;
  std::string context = environment("MCP_CONFORMANCE_CONTEXT");
  auto listed = array_elements(find_member(context, "toolCalls"));
  for (std::string_view each : listed.value_or(std::vector<std::string_view>())) {
    calls.push_back({text_member(each, "name"), std::string(find_member(each, "arguments"))});
  }
  if (listed) return calls;
  std::string first_schema = tools.empty() ? "{}" : tools.front().schema;
  for (const McpTool& tool : tools) {
    // A tool of the suite that wants to see what this client has kept of another tool's schema.
    bool echo = tool.name == "json_schema_echo";
    calls.push_back({tool.name, echo ? "{\"schema\":" + first_schema + "}" : made_arguments(tool.schema)});
  }
  return calls;
}

void print(const Wanted& call, const ToolOutcome& outcome) {
  std::string line = object_text([&](JsonObject& made) {
    made.text("tool", call.tool);
    made.flag("success", outcome.success);
    made.text("content", outcome.content);
    made.number("images", outcome.images.size());
  });
  std::printf("%s\n", line.c_str());
}

int run(McpServerConfig config) {
  std::signal(SIGPIPE, SIG_IGN);
  start_log("info");
  net::EventLoop loop;
  net::Timers timers(loop, {});
  SystemClock clock;
  SystemRandom random;
  auto made = McpServer::make({loop, clock, random, "1.0"}, timers, std::move(config), [] {});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 2;
  }
  McpServer& server = **made;
  auto until = steady_clock::now() + kPatience;
  auto turn_while = [&](auto&& condition) {
    while (condition() && steady_clock::now() < until)
      loop.turn(std::min(until, steady_clock::now() + std::chrono::milliseconds(50)));
  };
  server.open();
  turn_while([&] { return !server.settled(); });
  int code = server.ready() ? 0 : 1;
  for (const Wanted& call : wanted_calls(server.tools())) {
    bool done = false;
    auto use = server.start(
        call.tool, call.arguments,
        [&](ToolOutcome outcome) {
          print(call, outcome);
          done = true;
        },
        [&](std::string_view line) { std::fprintf(stderr, "progress: %s\n", std::string(line).c_str()); });
    turn_while([&] { return !done; });
    if (!done) code = 1;
  }
  bool stopped = false;
  until = steady_clock::now() + kPatience;
  server.stop([&] { stopped = true; });
  turn_while([&] { return !stopped; });
  made->reset();
  return stopped ? code : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == kWardenCommand) return warden_main(argc, argv);
  McpServerConfig config;
  config.name = "checked";
  if (argc > 2 && std::string_view(argv[1]) == "--") {
    config.command.assign(argv + 2, argv + argc);
  } else if (argc == 2) {
    config.url = argv[1];
  } else {
    std::fprintf(stderr, "usage: mcp_check URL | mcp_check -- PROGRAM ARGUMENT…\n");
    return 2;
  }
  return run(std::move(config));
}
