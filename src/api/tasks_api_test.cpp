#include <algorithm>
#include <set>

#include "api/api_fixture.h"

namespace shepherd {
namespace {

class TasksApi : public ApiFixture {};

TEST_F(TasksApi, CreateGetPatchDelete) {
  auto created = post("/api/v1/tasks", R"({"id":"t1","task":{"description":"fix it"},"labels":{"team":"web"}})");
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.header("location"), "/api/v1/tasks/t1");
  EXPECT_EQ(parsed(created).at("status").at("phase").as_string(), "Pending");

  auto patched = call(*public_, "PATCH", "/api/v1/tasks/t1", R"({"title":"Better","labels":{"team":null,"a":"b"}})",
                      bearer(admin_));
  EXPECT_EQ(patched.status, 200);
  auto task = parsed(get("/api/v1/tasks/t1")).as_object();
  EXPECT_EQ(json::serialize(task.at("labels")), R"({"a":"b"})");

  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t1", "", bearer(admin_)).status, 204);
  auto gone = get("/api/v1/tasks/t1");
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(code_of(gone), "unknown_task");
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t1", "", bearer(admin_)).status, 404);
}

TEST_F(TasksApi, APromptIsEnoughAndTheServerMakesTheId) {
  auto created = post("/api/v1/tasks", R"({"prompt":"say hi"})");
  ASSERT_EQ(created.status, 201);
  std::string id(parsed(created).at("id").as_string());
  EXPECT_TRUE(id.starts_with("task-")) << id;
  EXPECT_EQ(get("/api/v1/tasks/" + id).status, 200);
}

TEST_F(TasksApi, TheSameIdOrKeyWithTheSameBodyIsTheSameTask) {
  std::string body = R"({"id":"t1","prompt":"one"})";
  EXPECT_EQ(post("/api/v1/tasks", body).status, 201);
  EXPECT_EQ(post("/api/v1/tasks", body).status, 200);
  auto other = post("/api/v1/tasks", R"({"id":"t1","prompt":"two"})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(code_of(other), "task_exists");

  auto keyed = [&](const std::string& text) {
    auto headers = bearer(admin_);
    headers.emplace_back("Idempotency-Key", "k1");
    return call(*public_, "POST", "/api/v1/tasks", text, headers);
  };
  auto first = keyed(R"({"prompt":"one"})");
  EXPECT_EQ(first.status, 201);
  auto again = keyed(R"({"prompt":"one"})");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(parsed(first).at("id"), parsed(again).at("id"));
  EXPECT_EQ(code_of(keyed(R"({"prompt":"two"})")), "idempotency_key_reused");
}

TEST_F(TasksApi, AKeyThatMadeATaskDoesNotMakeOneOfAnotherId) {
  auto keyed = [&](const std::string& text) {
    auto headers = bearer(admin_);
    headers.emplace_back("Idempotency-Key", "k1");
    return call(*public_, "POST", "/api/v1/tasks", text, headers);
  };
  EXPECT_EQ(keyed(R"({"id":"a","prompt":"one"})").status, 201);
  auto other = keyed(R"({"id":"b","prompt":"one"})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(code_of(other), "idempotency_key_reused");
  EXPECT_EQ(get("/api/v1/tasks/b").status, 404);
  EXPECT_EQ(keyed(R"({"id":"a","prompt":"one"})").status, 200);
  EXPECT_EQ(keyed(R"({"prompt":"one"})").status, 200) << "no id is no other id";
}

TEST_F(TasksApi, SecretsOfATaskAreForItsRunnerOnly) {
  std::string viewer = token("v", Scope::viewer);
  auto socket = open_socket("/api/v1/events", bearer(viewer));
  ASSERT_TRUE(socket) << socket.error().message;
  auto made = post("/api/v1/tasks",
                   R"({"id":"t1","task":{"description":"use password=Xk29vbQ1","sourceURL":"https://a:pw1@s.example"},)"
                   R"("repo":{"url":"https://joe:pw2@git.example/a.git"},)"
                   R"("callbackURL":"https://hooks.example/x?token=pw3&task=1"})");
  ASSERT_EQ(made.status, 201) << made.body;
  json::object row = next(*socket, "task_update");
  ASSERT_FALSE(row.empty());
  std::vector<std::string> shown{made.body, json::serialize(row),
                                 call(*public_, "GET", "/api/v1/tasks", "", bearer(viewer)).body,
                                 call(*public_, "GET", "/api/v1/tasks/t1", "", bearer(viewer)).body};
  for (const std::string& text : shown) {
    for (const char* secret : {"Xk29vbQ1", "pw1", "pw2", "pw3"})
      EXPECT_EQ(text.find(secret), std::string::npos) << text;
    EXPECT_NE(text.find("https://joe:[redacted:password:3]@git.example/a.git"), std::string::npos) << text;
    EXPECT_NE(text.find("https://hooks.example/x?token=[redacted:secret:3]&task=1"), std::string::npos) << text;
  }
  auto data = call(*internal_, "GET", "/api/v1/tasks/t1/data", "", bearer(admin_));
  EXPECT_NE(data.body.find("https://joe:pw2@git.example/a.git"), std::string::npos) << data.body;
  EXPECT_NE(data.body.find("password=Xk29vbQ1"), std::string::npos) << data.body;
}

TEST_F(TasksApi, ATitleHoldsNoSecretWhereverItIsShown) {
  ASSERT_EQ(post("/api/v1/tasks", R"({"id":"t1","prompt":"use password=Xk29vbQ1"})").status, 201);
  ASSERT_EQ(post("/api/v1/tasks", R"({"id":"t2","prompt":"x","title":"with password=Xk29vbQ2"})").status, 201);
  ASSERT_EQ(post("/api/v1/tasks", R"({"id":"t3","prompt":"x"})").status, 201);
  ASSERT_EQ(call(*public_, "PATCH", "/api/v1/tasks/t3", R"({"title":"password=Xk29vbQ3"})", bearer(admin_)).status,
            200);
  std::string agents = get("/api/v1/observability/agents").body;
  EXPECT_NE(agents.find("with password=[redacted"), std::string::npos) << agents;
  EXPECT_EQ(agents.find("Xk29vbQ"), std::string::npos) << agents;
}

TEST_F(TasksApi, ModesAndEarlierTasksAreChecked) {
  auto mode = post("/api/v1/tasks", R"({"prompt":"x","mode":"yolo"})");
  EXPECT_EQ(mode.status, 400);
  EXPECT_EQ(parsed(mode).at("member").as_string(), "mode");
  EXPECT_NE(mode.body.find("autonomous"), std::string::npos) << mode.body;
  EXPECT_NE(mode.body.find("interactive"), std::string::npos) << mode.body;
  auto earlier = post("/api/v1/tasks", R"({"id":"later","prompt":"x","resumeOf":"nobody"})");
  EXPECT_EQ(earlier.status, 400);
  EXPECT_EQ(code_of(earlier), "unknown_resume_task");
  EXPECT_EQ(parsed(earlier).at("member").as_string(), "resumeOf");
  EXPECT_EQ(get("/api/v1/tasks/later").status, 404);
  create("nobody");
  auto silent = post("/api/v1/tasks", R"({"id":"later","prompt":"x","resumeOf":"nobody"})");
  EXPECT_EQ(silent.status, 400);
  EXPECT_EQ(code_of(silent), "no_session");
  EXPECT_EQ(get("/api/v1/tasks/later").status, 404);
  produce("/api/v1/tasks/nobody/events", R"({"type":"session_start","sessionID":"s1","summary":"Started"})");
  EXPECT_EQ(post("/api/v1/tasks", R"({"id":"later","prompt":"x","mode":"interactive","resumeOf":"nobody"})").status,
            201);
}

TEST_F(TasksApi, AnAgentGetsNoSessionOfAnother) {
  post("/api/v1/tasks", R"({"id":"earlier","prompt":"x","agent":"claude"})");
  produce("/api/v1/tasks/earlier/events", R"({"type":"session_start","sessionID":"s1","summary":"Started"})");
  auto foreign = post("/api/v1/tasks", R"({"id":"later","prompt":"x","agent":"codex","resumeOf":"earlier"})");
  EXPECT_EQ(foreign.status, 400);
  EXPECT_EQ(code_of(foreign), "other_agent");
  EXPECT_NE(foreign.body.find("with the agent claude"), std::string::npos) << foreign.body;
  EXPECT_EQ(get("/api/v1/tasks/later").status, 404);
  for (const char* agent : {"claude", "claude-acp", "a-name-of-the-configuration"}) {
    auto resumed =
        post("/api/v1/tasks", R"({"prompt":"x","resumeOf":"earlier","agent":")" + std::string(agent) + "\"}");
    EXPECT_EQ(resumed.status, 201) << agent << resumed.body;
  }
}

TEST_F(TasksApi, AListGoesOnWhenTheTaskAtItsCursorIsDeleted) {
  for (int i = 0; i < 4; ++i) create("t" + std::to_string(i));
  auto first = get("/api/v1/tasks?limit=2");
  json::array shown = parsed(first).as_array();
  std::string link(first.header("link"));
  std::string last(shown.back().at("id").as_string());
  ASSERT_EQ(call(*public_, "DELETE", "/api/v1/tasks/" + last, "", bearer(admin_)).status, 204);
  auto second = get(link.substr(1, link.find('>') - 1));
  ASSERT_EQ(second.status, 200) << second.body;
  std::set<std::string> seen;
  for (const auto& task : shown) seen.emplace(task.at("id").as_string());
  json::array rest = parsed(second).as_array();
  for (const auto& task : rest) EXPECT_TRUE(seen.emplace(task.at("id").as_string()).second);
  EXPECT_EQ(seen, (std::set<std::string>{"t0", "t1", "t2", "t3"}));
  EXPECT_EQ(get("/api/v1/tasks?limit=2&before=" + last).status, 404) << "an id alone says no place";
}

TEST_F(TasksApi, ListsPagesByLinkAndFilters) {
  for (int i = 0; i < 5; ++i) create("t" + std::to_string(i));
  post("/api/v1/tasks", R"({"id":"labelled","prompt":"x","labels":{"team":"web"}})");
  complete("t0");

  std::vector<std::string> seen;
  std::string target = "/api/v1/tasks?limit=2";
  while (!target.empty()) {
    auto page = get(target);
    ASSERT_EQ(page.status, 200);
    json::value tasks = parsed(page);
    for (const auto& task : tasks.as_array()) seen.emplace_back(task.at("id").as_string());
    std::string link(page.header("link"));
    target = link.empty() ? "" : link.substr(1, link.find('>') - 1);
    EXPECT_TRUE(link.empty() || link.ends_with("; rel=\"next\"")) << link;
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"labelled", "t0", "t1", "t2", "t3", "t4"})) << "each once";

  auto count = [&](const std::string& query) { return parsed(get("/api/v1/tasks?" + query)).as_array().size(); };
  EXPECT_EQ(count("state=completed"), 1U);
  EXPECT_EQ(count("active=true"), 5U);
  EXPECT_EQ(count("label=team%3Dweb"), 1U);
  EXPECT_EQ(count("label=team:web"), 1U);
  EXPECT_EQ(count("label=team:core"), 0U);
  auto bad = get("/api/v1/tasks?state=sleeping");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(parsed(bad).at("parameter").as_string(), "state");
}

TEST_F(TasksApi, BadBodiesAreRefusedWithAReason) {
  EXPECT_EQ(post("/api/v1/tasks", "{").status, 400);
  EXPECT_EQ(post("/api/v1/tasks", R"({"id":"not an id","prompt":"x"})").status, 400);
  EXPECT_EQ(post("/api/v1/tasks", R"({"prompt":"x","task":{"context":")" + std::string(1'600'000, 'x') + "\"}}").status,
            413);
  auto headers = bearer(admin_);
  headers.emplace_back("Content-Type", "text/plain");
  auto plain = call(*public_, "POST", "/api/v1/tasks", R"({"prompt":"x"})", headers);
  EXPECT_EQ(plain.status, 415);
  EXPECT_EQ(code_of(plain), "unsupported_media_type");
  headers = bearer(admin_);
  headers.emplace_back("Content-Encoding", "gzip");
  auto packed = call(*public_, "POST", "/api/v1/tasks", "\x1f\x8b\x08", headers);
  EXPECT_EQ(packed.status, 415);
  EXPECT_EQ(code_of(packed), "unsupported_content_encoding");
  EXPECT_NE(packed.body.find("gzip"), std::string::npos);
  headers.back().second = "identity";
  EXPECT_EQ(call(*public_, "POST", "/api/v1/tasks", R"({"prompt":"x"})", headers).status, 201);
  EXPECT_EQ(call(*public_, "POST", "/api/v1/tasks", "", bearer(admin_)).status, 415);
}

TEST_F(TasksApi, UnknownPathsAndMethodsAreProblems) {
  auto unknown = get("/api/v2/tasks");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.header("content-type"), "application/problem+json");
  auto method = call(*public_, "PUT", "/api/v1/tasks", R"({})", bearer(admin_));
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.header("allow"), "POST, GET, HEAD");
  auto elsewhere = post("/api/v1/tasks/x/events", R"({"type":"log"})");
  EXPECT_EQ(elsewhere.status, 405);
  EXPECT_NE(elsewhere.body.find("internal listener"), std::string::npos);
}

TEST_F(TasksApi, EveryAnswerHasTheSecurityHeaders) {
  for (const auto& response :
       {get("/api/v1/tasks"), get("/nowhere"), get("/"), get("/openapi.json"), get("/healthz")}) {
    EXPECT_EQ(response.header("x-content-type-options"), "nosniff");
    EXPECT_EQ(response.header("referrer-policy"), "no-referrer");
  }
  EXPECT_EQ(get("/api/v1/tasks").header("cache-control"), "no-store");
  std::string policy(get("/").header("content-security-policy"));
  EXPECT_TRUE(policy.starts_with("default-src 'none'")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST_F(TasksApi, ProbesAndMetrics) {
  EXPECT_EQ(call(*public_, "GET", "/healthz", "", {}).status, 200);
  EXPECT_EQ(call(*internal_, "GET", "/readyz", "", {}).status, 200);
  EXPECT_EQ(call(*public_, "GET", "/metrics", "", {}).status, 401);
  auto text = get("/metrics");
  EXPECT_EQ(text.status, 200);
  EXPECT_NE(
      text.body.find(R"(shepherd_http_requests_total{listener="public",route="/healthz",method="GET",code="200"} 1)"),
      std::string::npos)
      << text.body;
  ApiConfig open = config_;
  open.metrics_open = true;
  restart_with(open);
  EXPECT_EQ(call(*public_, "GET", "/metrics", "", {}).status, 200);
}

TEST_F(TasksApi, NotReadyWhileTheStoreDoesNotCommit) {
  fault_ = Fault::fail_before_commit;
  auto answer = call(*public_, "GET", "/readyz", "", {});
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
  EXPECT_EQ(call(*public_, "GET", "/healthz", "", {}).status, 200);
  auto created = post("/api/v1/tasks", R"({"id":"t1","prompt":"x"})");
  EXPECT_EQ(created.status, 503);
  fault_ = Fault::none;
  EXPECT_EQ(post("/api/v1/tasks", R"({"id":"t1","prompt":"x"})").status, 201);
}

}  // namespace
}  // namespace shepherd
