// Telemetry over real sockets. The recording is a whole run of Claude Code: three tool calls, four calls of the API.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "api/api_fixture.h"
#include "base/base64.h"

namespace shepherd {
namespace {

constexpr const char* kSession = "7c9d043b-e025-4edf-a5ee-e3f1accd7894";

class OtlpApi : public ApiFixture {
 protected:
  struct Recorded {
    std::string path, type, body;
  };
  static std::string golden(const std::string& name) { return std::string(SHEPHERD_GOLDEN_DIR) + "/otlp/" + name; }
  static std::vector<Recorded> recording(const std::string& name) {
    std::vector<Recorded> requests;
    std::ifstream file(golden(name));
    for (std::string line; std::getline(file, line);) {
      json::value record = json::parse(line);
      const json::value& body = record.at("body");
      requests.push_back(
          {std::string(record.at("path").as_string()), std::string(record.at("content_type").as_string()),
           body.is_string() ? decode_base64(std::string(body.as_string())).value() : json::serialize(body)});
    }
    EXPECT_FALSE(requests.empty()) << name;
    return requests;
  }
  net::ClientResponse send(const std::string& path, const std::string& body,
                           const std::string& type = "application/json") {
    return produce(path, body, {{"Content-Type", type}});
  }
  void play(const std::string& name) {
    for (const Recorded& each : recording(name)) {
      auto response = send(each.path, each.body, each.type);
      EXPECT_EQ(response.status, 200) << response.body;
      EXPECT_EQ(response.body, each.type == "application/json" ? "{}" : "");
    }
  }
  static std::string attribute(const std::string& key, const std::string& value) {
    return R"({"key":")" + key + R"(","value":{"stringValue":")" + value + R"("}})";
  }
  // One log record of a session, `second` seconds after the first.
  static std::string log(const std::string& service, const std::string& name, int second, const std::string& more = "",
                         const std::string& session = "s1", const std::string& resource = "") {
    return R"({"resourceLogs":[{"resource":{"attributes":[)" + attribute("service.name", service) + resource +
           R"(]},"scopeLogs":[{"logRecords":[{"timeUnixNano":")" + std::to_string(1771423200 + second) +
           R"(000000000","attributes":[)" + attribute("session.id", session) + "," + attribute("event.name", name) +
           (more.empty() ? "" : "," + more) + "]}]}]}]}";
  }
  static std::string api_call(const std::string& id, int second, const std::string& cost = "0.5") {
    return log("claude-code", "api_request", second,
               attribute("request_id", id) + "," + attribute("cost_usd", cost) + "," + attribute("input_tokens", "10") +
                   "," + attribute("model", "m"));
  }
  static std::string tool_result(const std::string& id, int second) {
    return log(
        "claude-code", "tool_result", second,
        attribute("tool_use_id", id) + "," + attribute("tool_name", "Read") + "," + attribute("success", "true"));
  }
  static std::string cost(int from, int to, const std::string& value, int temporality) {
    return R"({"resourceMetrics":[{"resource":{"attributes":[)" + attribute("service.name", "claude-code") +
           R"(]},"scopeMetrics":[{"metrics":[{"name":"claude_code.cost.usage","sum":{"aggregationTemporality":)" +
           std::to_string(temporality) + R"(,"dataPoints":[{"startTimeUnixNano":")" + std::to_string(from) +
           R"(","timeUnixNano":")" + std::to_string(to) + R"(","asDouble":)" + value + R"(,"attributes":[)" +
           attribute("session.id", "s1") + "," + attribute("model", "m") + "]}]}}]}]}]}";
  }
  json::object task(const std::string& id) {
    auto response = get("/api/v1/tasks/" + id);
    EXPECT_EQ(response.status, 200) << id;
    return response.status == 200 ? parsed(response).as_object() : json::object();
  }
  json::array events(const std::string& id) {
    return parsed(get("/api/v1/tasks/" + id + "/events?limit=500")).at("events").as_array();
  }
  std::string types(const std::string& id) {
    std::string text;
    for (const json::value& event : events(id)) {
      text += (text.empty() ? "" : " ") + std::string(event.at("type").as_string());
    }
    return text;
  }
  double cost_of(const std::string& id) { return task(id).at("usage").at("costUSD").to_number<double>(); }
  // The log without what differs between runs.
  std::string story(const std::string& id) {
    std::string lines;
    for (json::value& event : events(id)) {
      json::object& members = event.as_object();
      for (const char* key : {"receivedAt"}) members.erase(key);
      if (members.at("type").as_string() == "usage") members.erase("timestamp");
      lines += json::serialize(event) + "\n";
    }
    return lines;
  }
};

TEST_F(OtlpApi, ARecordedRunIsATaskInEachEncoding) {
  const std::string id = std::string("claude-") + kSession;
  play("claude-31-otel.otlp.jsonl");
  json::object shown = task(id);
  EXPECT_EQ(shown.at("title").as_string(), "Fix add");
  EXPECT_EQ(shown.at("sessionID").as_string(), kSession);
  EXPECT_EQ(shown.at("labels").at("source").as_string(), "telemetry");
  EXPECT_EQ(shown.at("status").at("state").as_string(), "waiting_for_input") << "the turn's span has ended";
  // What the same run's own result line said: 0.016528 USD, 12 tokens in, 68 out, 33600 read, 1680 written.
  EXPECT_NEAR(cost_of(id), 0.016528, 1e-9);
  json::object usage = shown.at("usage").as_object();
  EXPECT_EQ(usage.at("inputTokens").to_number<int>(), 12);
  EXPECT_EQ(usage.at("outputTokens").to_number<int>(), 68);
  EXPECT_EQ(usage.at("cacheReadTokens").to_number<int>(), 33600);
  EXPECT_EQ(usage.at("cacheWriteTokens").to_number<int>(), 1680);
  EXPECT_EQ(usage.at("apiCalls").to_number<int>(), 4);

  std::string story_in_json = story(id);
  if (std::getenv("SHEPHERD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden("claude-31-otel.expected")) << story_in_json;
  }
  std::stringstream expected;
  expected << std::ifstream(golden("claude-31-otel.expected")).rdbuf();
  EXPECT_EQ(story_in_json, expected.str());

  // Exporters repeat what was not answered, in any encoding.
  play("claude-31-otel.protobuf.jsonl");
  EXPECT_EQ(story(id), story_in_json) << "a repeat changed the task";

  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/" + id, "", bearer(admin_)).status, 204);
  play("claude-31-otel.protobuf.jsonl");
  EXPECT_EQ(story(id), expected.str()) << "protobuf says something else, or figures survived the deletion";
}

TEST_F(OtlpApi, ARecordedRunOfCodexIsATask) {
  for (const Recorded& each : recording("codex-otel.otlp.jsonl")) EXPECT_EQ(send(each.path, each.body).status, 200);
  const std::string id = "codex-01a1f616-66cf-7401-9c38-78aa9570c998";
  EXPECT_EQ(types(id), "session_start log message tool_call tool_result usage");
  EXPECT_EQ(task(id).at("title").as_string(), "Make a file");
  json::array log = events(id);
  EXPECT_EQ(log[3].at("summary").as_string(), "Running echo made > made; cat made; exit 3");
  EXPECT_EQ(log[3].at("tool").as_string(), "Bash");
  // The run itself said: 2000 tokens in, 800 of them cached, 84 out.
  json::object usage = task(id).at("usage").as_object();
  EXPECT_EQ(usage.at("inputTokens").to_number<int>(), 1200);
  EXPECT_EQ(usage.at("cacheReadTokens").to_number<int>(), 800);
  EXPECT_EQ(usage.at("outputTokens").to_number<int>(), 84);
}

TEST_F(OtlpApi, AStepThatHooksToldIsOneEvent) {
  auto hook = [](const std::string& name, const std::string& members) {
    return R"({"session_id":"s1","cwd":"/work","hook_event_name":")" + name + R"(",)" + members + "}";
  };
  produce("/api/v1/hooks/claude", hook("UserPromptSubmit", R"("prompt":"Go")"));
  produce("/api/v1/hooks/claude", hook("PreToolUse", R"("tool_name":"Read","tool_input":{},"tool_use_id":"t1")"));
  produce("/api/v1/hooks/claude", hook("PostToolUse", R"("tool_name":"Read","tool_response":"x","tool_use_id":"t1")"));
  std::string before = types("claude-s1");
  send("/v1/logs", log("claude-code", "user_prompt", 0, attribute("prompt", "Go")));
  send("/v1/logs", tool_result("t1", 1));
  EXPECT_EQ(types("claude-s1"), before);
  send("/v1/logs", tool_result("t2", 2));
  send("/v1/logs", api_call("r1", 3));
  EXPECT_EQ(types("claude-s1"), before + " tool_call tool_result usage") << "what hooks missed is added";
  EXPECT_EQ(cost_of("claude-s1"), 0.5);
}

TEST_F(OtlpApi, HooksTakeOverATaskThatTelemetryOpened) {
  send("/v1/logs", log("claude-code", "user_prompt", 0, attribute("prompt", "Go")));
  produce("/api/v1/hooks/claude", R"({"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"More"})");
  EXPECT_EQ(task("claude-s1").at("labels").at("source").as_string(), "claude-hook");
  send("/v1/logs", log("claude-code", "user_prompt", 5, attribute("prompt", "More")));
  EXPECT_EQ(types("claude-s1"), "session_start message message");
}

// The stream of a runner's task tells its steps; its figures count once, whichever source is first.
TEST_F(OtlpApi, AWatchedTaskGetsOnlyFiguresThatItsStreamLacks) {
  ASSERT_EQ(post("/api/v1/tasks", R"({"id":"w","prompt":"x","agent":"claude"})").status, 201);
  produce("/api/v1/tasks/w/events", R"({"type":"session_start","summary":"","sessionID":"s1"})");
  send("/v1/logs", tool_result("t1", 1));
  send("/v1/logs", api_call("r1", 2));
  EXPECT_EQ(types("w"), "session_start usage");
  EXPECT_EQ(cost_of("w"), 0.5);
  EXPECT_EQ(get("/api/v1/tasks/claude-s1").status, 404);
  produce("/api/v1/tasks/w/events",
          R"({"type":"usage","summary":"","sessionID":"s1","data":{"costUSD":0.75,"inputTokens":11}})");
  send("/v1/logs", api_call("r2", 3));
  EXPECT_EQ(types("w"), "session_start usage usage");
  EXPECT_EQ(cost_of("w"), 0.75);
}

TEST_F(OtlpApi, ATaskThatTheSenderNames) {
  create("mine");
  std::string named = "," + attribute("shepherd.task", "mine");
  send("/v1/logs", log("claude-code", "user_prompt", 0, attribute("prompt", "Go"), "s1", named));
  EXPECT_EQ(types("mine"), "session_start message");
  EXPECT_EQ(get("/api/v1/tasks/claude-s1").status, 404);
  send("/v1/logs", log("claude-code", "user_prompt", 1, attribute("prompt", "Go"), "s9",
                       "," + attribute("shepherd.task", "unknown")));
  EXPECT_EQ(types("claude-s9"), "session_start message") << "without that task the session has its own";
}

TEST_F(OtlpApi, CallsAndMetricsCountOnce) {
  send("/v1/logs", api_call("r1", 1));
  send("/v1/logs", api_call("r1", 1));
  EXPECT_EQ(cost_of("claude-s1"), 0.5);
  send("/v1/metrics", cost(1, 10, "0.5", 1));
  EXPECT_EQ(cost_of("claude-s1"), 0.5) << "the metric counts the same call";
  send("/v1/metrics", cost(10, 20, "0.25", 1));
  EXPECT_EQ(cost_of("claude-s1"), 0.75) << "the metric was first";
  send("/v1/metrics", cost(10, 20, "0.25", 1));
  EXPECT_EQ(cost_of("claude-s1"), 0.75) << "a repeat";
  send("/v1/logs", api_call("r2", 2, "0.25"));
  EXPECT_EQ(cost_of("claude-s1"), 0.75);
}

TEST_F(OtlpApi, CumulativeMetricsAndARestartOfTheirSender) {
  send("/v1/metrics", cost(1, 10, "0.5", 2));
  send("/v1/metrics", cost(1, 20, "0.75", 2));
  EXPECT_EQ(cost_of("claude-s1"), 0.75);
  send("/v1/metrics", cost(21, 30, "0.25", 2));
  EXPECT_EQ(cost_of("claude-s1"), 1.0) << "a sender that starts again counts from 0";
}

// Exports overlap: a record of the turn may come after the span that ends it.
TEST_F(OtlpApi, AStepFromBeforeTheEndOfItsTurnDoesNotWakeTheTask) {
  send("/v1/logs", tool_result("t1", 1));
  send("/v1/traces",
       R"({"resourceSpans":[{"resource":{"attributes":[)" + attribute("service.name", "claude-code") +
           R"(]},"scopeSpans":[{"spans":[{"name":"claude_code.interaction","spanId":"0102030405060708",)" +
           R"("endTimeUnixNano":"1771423203000000000","attributes":[)" + attribute("session.id", "s1") + "]}]}]}]}");
  EXPECT_EQ(task("claude-s1").at("status").at("state").as_string(), "waiting_for_input");
  send("/v1/logs", log("claude-code", "assistant_response", 2, attribute("response", "Done.")));
  EXPECT_EQ(task("claude-s1").at("status").at("state").as_string(), "waiting_for_input");
  send("/v1/logs", tool_result("t2", 9));
  EXPECT_EQ(task("claude-s1").at("status").at("state").as_string(), "running");
}

TEST_F(OtlpApi, AnotherProgramOpensATaskOfLogLines) {
  auto response = send("/v1/logs", log("My Agent", "step_done", 1));
  EXPECT_EQ(response.body, "{}");
  EXPECT_EQ(types("my-agent-s1"), "session_start log");
  EXPECT_EQ(events("my-agent-s1").back().at("summary").as_string(), "step done");
  response = send("/v1/metrics",
                  R"({"resourceMetrics":[{"resource":{"attributes":[)" + attribute("service.name", "other") +
                      R"(]},"scopeMetrics":[{"metrics":[{"name":"x","sum":{"dataPoints":[{"asInt":1}]}}]}]}]})");
  EXPECT_EQ(parsed(response).at("partialSuccess").at("rejectedDataPoints").as_string(), "1");
}

TEST_F(OtlpApi, ARecordOfNoSessionIsNamedInTheAnswer) {
  for (const std::string& session : {std::string(), std::string("a/b"), std::string(65, 'x')}) {
    auto response = send("/v1/logs", log("claude-code", "user_prompt", 0, "", session));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(parsed(response).at("partialSuccess").at("rejectedLogRecords").as_string(), "1") << session;
  }
  EXPECT_TRUE(parsed(get("/api/v1/tasks")).as_array().empty());
}

TEST_F(OtlpApi, SecretsAreRedacted) {
  const std::string secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  send("/v1/logs", log("claude-code", "user_prompt", 0, attribute("prompt", "Use " + secret)));
  send("/v1/logs", log("other", "note", 0, attribute("key", secret), "s2"));
  for (const char* id : {"claude-s1", "other-s2"}) {
    EXPECT_EQ(json::serialize(task(id)).find(secret), std::string::npos) << id;
    EXPECT_EQ(json::serialize(events(id)).find(secret), std::string::npos) << id;
    std::string detail = get(std::string("/api/v1/tasks/") + id + "/events/2/detail").body;
    EXPECT_EQ(detail.find(secret), std::string::npos) << detail;
  }
}

TEST_F(OtlpApi, ErrorsHaveTheFormOfTheProtocol) {
  auto bad = send("/v1/logs", "{");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(parsed(bad).at("code").to_number<int>(), 3);
  EXPECT_EQ(send("/v1/traces", "\xff\xff", "application/x-protobuf").status, 400);
  EXPECT_EQ(send("/v1/logs", "{}", "text/plain").status, 415);
  EXPECT_EQ(produce("/v1/logs", "{}", {{"Content-Type", "application/json"}, {"Content-Encoding", "br"}}).status, 415);
  EXPECT_EQ(produce("/v1/logs", "{}", {{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}).status,
            400);
  auto stranger = call(*internal_, "POST", "/v1/logs", "{}", {});
  EXPECT_EQ(stranger.status, 401);
  EXPECT_EQ(parsed(stranger).at("code").to_number<int>(), 16);
  EXPECT_EQ(call(*public_, "POST", "/v1/logs", "{}", bearer(admin_)).status, 404);
  fault_ = Fault::fail_before_commit;
  auto full = send("/v1/logs", log("claude-code", "user_prompt", 0));
  EXPECT_EQ(full.status, 503) << "exporters send it again only after this";
  fault_ = Fault::none;
}

}  // namespace
}  // namespace shepherd
