#include <map>

#include "api/api_fixture.h"
#include "api/route.h"

namespace shepherd {
namespace {

class AccessApi : public ApiFixture {
 protected:
  static std::string base64url(std::string_view text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string out;
    unsigned bits = 0;
    int count = 0;
    for (unsigned char c : text) {
      bits = bits << 8 | c;
      for (count += 8; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
    }
    if (count > 0) out += kDigits[bits << (6 - count) & 63];
    return out;
  }
  std::string login() {
    auto link = post("/api/v1/login-links", "{}");
    EXPECT_EQ(link.status, 201);
    auto answer = call(*public_, "GET", std::string(parsed(link).at("path").as_string()), "", {});
    EXPECT_EQ(answer.status, 303);
    EXPECT_EQ(answer.header("location"), "/");
    std::string cookie(answer.header("set-cookie"));
    EXPECT_NE(cookie.find("; HttpOnly"), std::string::npos);
    EXPECT_NE(cookie.find("; SameSite=Strict"), std::string::npos);
    return cookie.substr(0, cookie.find(';'));
  }
};

// The expected permissions: v viewer, o operator, p producer, 1 producer of t1, 2 producer of t2, a admin, - anonymous.
// Written by hand, so that a mistake in the route table does not confirm itself.
const std::map<std::string, std::string> kWhoMay{
    {"POST /api/v1/tasks/{id}/events", "p1a"},
    {"GET /api/v1/tasks/{id}/events", "vop1a"},
    {"GET /api/v1/tasks/{id}/events/{sequence}", "vop1a"},
    {"GET /api/v1/tasks/{id}/events/{sequence}/detail", "vop1a"},
    {"POST /api/v1/tasks/{id}/status", "p1a"},
    {"POST /api/v1/tasks/{id}/deltas", "p1a"},
    {"POST /api/v1/claims", "p12a"},  // any producer; the handler checks the task
    {"POST /api/v1/hooks/claude", "pa"},
    {"POST /v1/logs", "pa"},
    {"POST /v1/metrics", "pa"},
    {"POST /v1/traces", "pa"},
    {"PUT /api/v1/tasks/{id}/lease", "p1a"},
    {"PUT /api/v1/runners/{id}", "pa"},
    {"DELETE /api/v1/runners/{id}", "pa"},
    {"GET /api/v1/runners", "vopa"},
    {"GET /api/v1/tasks/{id}/data", "p1a"},
    {"GET /api/v1/tasks/{id}/token", "p1a"},
    {"POST /api/v1/tasks/{id}/commands", "oa"},
    {"GET /api/v1/events", "vop12a"},
    {"POST /api/v1/tasks", "oa"},
    {"GET /api/v1/tasks", "vopa"},
    {"GET /api/v1/tasks/{id}", "vop1a"},
    {"PATCH /api/v1/tasks/{id}", "oa"},
    {"DELETE /api/v1/tasks/{id}", "a"},
    {"GET /api/v1/tasks/{id}/timeline", "vop1a"},
    {"GET /api/v1/inbox", "vop12a"},  // a producer of one task sees only that task's items
    {"POST /api/v1/inbox/dismiss", "oa"},
    {"GET /api/v1/findings", "vopa"},
    {"GET /api/v1/stats", "vopa"},
    {"GET /api/v1/observability/agents", "vopa"},
    {"GET /api/v1/observability/agents/{id}/events", "vop1a"},
    {"GET /api/v1/observability/sessions/{id}", "vopa"},
    {"GET /api/v1/observability/metrics", "vopa"},
    {"GET /api/v1/observability/dashboard/ws", "vop12a"},
    {"GET /api/v1/search", "vopa"},
    {"POST /api/v1/tokens", "a"},
    {"GET /api/v1/tokens", "a"},
    {"DELETE /api/v1/tokens/{id}", "a"},
    {"POST /api/v1/tickets", "vop12a"},
    {"GET /login", "-vop12a"},
    {"POST /login", ""},  // only a form of our own page, which sends its Origin
    {"POST /api/v1/login-links", "voa"},
    {"POST /api/v1/logout", "vop12a"},
    {"GET /api/v1/whoami", "vop12a"},
    {"GET /session", "vopa"},
    {"POST /request", "oa"},
    {"GET /updates", "vopa"},
    {"POST /clear", "oa"},
    {"POST /cancel", "oa"},
    {"GET /health", "-vop12a"},
    {"GET /status", "vopa"},
    {"GET /sessions", "vopa"},
    {"DELETE /sessions/{id}", "a"},
    {"GET /sessions/{id}/session", "vop1a"},
    {"POST /sessions/{id}/request", "oa"},
    {"GET /sessions/{id}/updates", "vop1a"},
    {"POST /sessions/{id}/clear", "oa"},
    {"POST /sessions/{id}/cancel", "oa"},
    {"GET /sessions/{id}/health", "-vop12a"},
    {"GET /sessions/{id}/status", "vop1a"},
    {"POST /sessions/{id}/fork", "oa"},
    {"GET /v1/models", "vopa"},
    {"GET /v1/models/{id}", "vop1a"},
    {"GET /v1/models/{id}/{name}", "vop1a"},
    {"POST /v1/chat/completions", "oa"},
    {"GET /healthz", "-vop12a"},
    {"GET /readyz", "-vop12a"},
    {"GET /metrics", "vopa"},
    {"GET /openapi.json", "-vop12a"},
    {"GET /", "-vop12a"},
    {"GET /assets/{name}", "-vop12a"},
};

// A request that passes the gate may fail later, but not with 401 or 403 (except for a bad login code).
TEST_F(AccessApi, ScopesByRoute) {
  const std::map<char, std::string> callers{{'-', ""},
                                            {'v', token("v", Scope::viewer)},
                                            {'o', token("o", Scope::operator_)},
                                            {'p', token("p", Scope::producer)},
                                            {'1', token("p1", Scope::producer, "t1")},
                                            {'2', token("p2", Scope::producer, "t2")},
                                            {'a', admin_}};
  for (const Route& route : routes()) {
    std::string name = std::string(route.method) + " " + std::string(route.pattern);
    ASSERT_TRUE(kWhoMay.contains(name)) << "say who may " << name;
    std::string path(route.pattern);
    if (auto at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, "t1");
    if (auto at = path.find("{sequence}"); at != std::string::npos) path.replace(at, 10, "1");
    for (unsigned listener : {kOnPublic, kOnInternal}) {
      if ((route.listeners & listener) == 0) continue;
      net::HttpServer& server = listener == kOnPublic ? *public_ : *internal_;
      for (const auto& [caller, secret] : callers) {
        std::string body = route.body == BodyKind::none ? "" : R"({"x":1})";
        int status = call(server, std::string(route.method), path, body, bearer(secret)).status;
        bool refused = (status == 401 && route.pattern != "/login") || status == 403;
        EXPECT_EQ(!refused, kWhoMay.at(name).find(caller) != std::string::npos)
            << caller << " " << name << " " << status;
      }
    }
  }
}

TEST_F(AccessApi, TokensAreMadeListedAndRevoked) {
  auto made = post("/api/v1/tokens", R"({"name":"ci","scope":"producer","task":"t1","expiresInSeconds":60})");
  ASSERT_EQ(made.status, 201);
  auto info = parsed(made).as_object();
  std::string secret(info.at("secret").as_string());
  std::string id(info.at("id").as_string());
  auto list = get("/api/v1/tokens");
  EXPECT_NE(list.body.find(id), std::string::npos);
  EXPECT_EQ(list.body.find(secret), std::string::npos);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", bearer(secret)).body,
            R"({"person":"ci","scope":"producer","task":"t1","tokenID":")" + id + "\"}");
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tokens/" + id, "", bearer(admin_)).status, 204);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", bearer(secret)).status, 401);
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tokens/" + id, "", bearer(admin_)).status, 404);
  for (const char* bad : {"[]", R"({"name":"x","scope":"king"})", R"({"name":"x","scope":"viewer","task":"t1"})",
                          R"({"scope":"viewer"})", R"({"name":"x","scope":"viewer","expiresInSeconds":-1})",
                          R"({"name":"x","scope":"viewer","expiresAt":"yesterday"})",
                          R"({"name":"x","scope":"viewer","expiresAt":"2001-01-01T00:00:00Z"})"}) {
    EXPECT_EQ(post("/api/v1/tokens", bad).status, 400) << bad;
  }
}

TEST_F(AccessApi, ATokenForOneTaskIsForThatTaskOnly) {
  for (const char* body :
       {R"({"name":"ci","scope":"producer","taskID":"t1"})", R"({"name":"ci","scope":"producer","task":"t1"})",
        R"({"name":"ci","scope":"producer","task":"t1","taskID":"t1"})"}) {
    auto made = post("/api/v1/tokens", body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(parsed(made).at("taskID").as_string(), "t1") << body;
    EXPECT_EQ(parsed(made).at("task").as_string(), "t1") << body;
  }
  for (auto [body, member] : {std::pair(R"({"name":"ci","scope":"producer","task_id":"t1"})", "task_id"),
                              std::pair(R"({"name":"ci","scope":"viewer","expiresIn":60})", "expiresIn"),
                              std::pair(R"({"name":"ci","scope":"producer","task":"t1","taskID":"t2"})", "task")}) {
    auto refused = post("/api/v1/tokens", body);
    EXPECT_EQ(refused.status, 400) << body;
    EXPECT_EQ(parsed(refused).at("member").as_string(), member) << refused.body;
  }
}

TEST_F(AccessApi, ARevocationCutsLiveStreamsAndKeepAliveConnections) {
  create("t1");
  NewToken viewer = make_token("v", Scope::viewer);
  auto socket = open_socket("/api/v1/tasks/t1/events", bearer(viewer.secret));
  ASSERT_TRUE(socket);
  next(*socket, "caught_up");
  net::HttpClient client(*net::parse_url(public_->url()));
  ASSERT_EQ(client.request("GET", "/api/v1/whoami", bearer(viewer.secret), "", 10s)->status, 200);
  EXPECT_EQ(api_->live_streams(), 1U);
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tokens/" + viewer.info.id, "", bearer(admin_)).status, 204);
  EXPECT_EQ(close_code(*socket), 4101);
  EXPECT_EQ(client.request("GET", "/api/v1/whoami", bearer(viewer.secret), "", 10s)->status, 401);
}

TEST_F(AccessApi, BadCredentialsAreRefusedThenSlowedDown) {
  auto answer = call(*public_, "GET", "/api/v1/tasks", "", bearer("shp_wrong"));
  EXPECT_EQ(answer.status, 401);
  EXPECT_TRUE(answer.header("www-authenticate").starts_with("Bearer"));
  int status = 0;
  for (int i = 0; i < 200 && status != 429; ++i) {
    status = call(*public_, "GET", "/api/v1/tasks", "", bearer("shp_wrong")).status;
  }
  EXPECT_EQ(status, 429);
}

TEST_F(AccessApi, AStaleTokenDoesNotLockOutTheGoodOnesOfItsAddress) {
  create("t1");
  std::string good = token("ci", Scope::viewer);
  int status = 0;
  for (int i = 0; i < 200 && status != 429; ++i) {
    status = call(*public_, "GET", "/api/v1/tasks", "", bearer("shp_stale")).status;
  }
  ASSERT_EQ(status, 429);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks", "", bearer(good)).status, 200);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks", "", bearer("shp_stale")).status, 429);
}

TEST_F(AccessApi, RevokingATokenEndsTheBrowsersItSignedIn) {
  create("t1");
  NewToken ann = make_token("ann", Scope::operator_);
  auto link = call(*public_, "POST", "/api/v1/login-links", "{}", bearer(ann.secret));
  ASSERT_EQ(link.status, 201) << link.body;
  auto login = call(*public_, "GET", std::string(parsed(link).at("path").as_string()), "", {});
  ASSERT_EQ(login.status, 303);
  std::string cookie(login.header("set-cookie"));
  cookie.resize(cookie.find(';'));
  auto socket = open_socket("/api/v1/tasks/t1/events", {{"Cookie", cookie}, {"Origin", public_->url()}});
  ASSERT_TRUE(socket) << socket.error().message;
  next(*socket, "caught_up");
  EXPECT_NE(get("/api/v1/tokens").body.find(R"("session":true,"sessionOf":")" + ann.info.id + "\""), std::string::npos);
  ASSERT_EQ(call(*public_, "DELETE", "/api/v1/tokens/" + ann.info.id, "", bearer(admin_)).status, 204);
  EXPECT_EQ(close_code(*socket), 4101);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", {{"Cookie", cookie}}).status, 401);
}

TEST_F(AccessApi, ABrowserLogsInByALinkOnce) {
  auto link = parsed(post("/api/v1/login-links", "{}"));
  std::string path(link.at("path").as_string());
  EXPECT_EQ(link.at("url").as_string(), "http://shepherd.localhost:" + std::to_string(public_->port()) + path);
  auto first = call(*public_, "GET", path, "", {});
  EXPECT_EQ(first.status, 303);
  auto second = call(*public_, "GET", path, "", {});
  EXPECT_EQ(second.status, 401);
  EXPECT_NE(second.body.find("shepherd token login-link"), std::string::npos);
  EXPECT_EQ(second.header("content-type"), "text/html; charset=utf-8");
}

TEST_F(AccessApi, ACookieReadsButChangesOnlyFromItsOwnPage) {
  std::string cookie = login();
  std::string origin = public_->url();
  auto with = [&](const std::string& method, const std::string& target, net::HeaderList extra) {
    extra.emplace_back("Cookie", cookie);
    return call(*public_, method, target, method == "POST" ? R"({"prompt":"x"})" : "", extra).status;
  };
  EXPECT_EQ(with("GET", "/api/v1/tasks", {}), 200);
  EXPECT_EQ(with("POST", "/api/v1/tasks", {{"Origin", origin}}), 201);
  EXPECT_EQ(with("POST", "/api/v1/tasks", {{"Sec-Fetch-Site", "same-origin"}}), 201);
  EXPECT_EQ(with("POST", "/api/v1/tasks", {}), 403);
  EXPECT_EQ(with("POST", "/api/v1/tasks", {{"Origin", "https://evil.com"}}), 403);
  create("t1");
  auto foreign = open_socket("/api/v1/tasks/t1/events", {{"Cookie", cookie}, {"Origin", "https://evil.com"}});
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().reason, "bad_origin");
  EXPECT_TRUE(open_socket("/api/v1/tasks/t1/events", {{"Cookie", cookie}, {"Origin", origin}}));
  EXPECT_EQ(with("POST", "/api/v1/logout", {{"Origin", origin}}), 204);
  EXPECT_EQ(with("GET", "/api/v1/tasks", {}), 401);
}

TEST_F(AccessApi, HostsThatAreNotOursAreRefusedBeforeTheBodyIsRead) {
  net::Request head;
  head.method = "POST";
  head.target = "/api/v1/tasks";
  head.peer = "127.0.0.1:50000";
  head.headers = {{"host", "evil.com"},
                  {"authorization", "Bearer " + admin_},
                  {"content-type", "application/json"},
                  {"content-length", "1000"}};
  auto refused = api_->public_handler().admit(head);
  ASSERT_TRUE(refused.refuse.has_value());
  EXPECT_EQ(refused.refuse->status, 403);
  EXPECT_NE(refused.refuse->body.find("bad_host"), std::string::npos);
  head.headers[0].second = "localhost:8080";
  EXPECT_FALSE(api_->public_handler().admit(head).refuse.has_value());
}

TEST_F(AccessApi, StreamsOfClientsWithoutHeaders) {
  create("t1");
  // The token as a WebSocket subprotocol.
  auto socket =
      open_socket("/api/v1/tasks/t1/events", {{"Sec-WebSocket-Protocol", "shepherd.v1, bearer." + base64url(admin_)}});
  EXPECT_TRUE(socket) << socket.error().message;

  // A ticket opens one stream, and reopens it with a cursor.
  append_lines("t1", 1);
  std::string ticket(parsed(post("/api/v1/tickets", "{}")).at("ticket").as_string());
  std::string target = "/api/v1/tasks/t1/events?ticket=" + ticket;
  EXPECT_TRUE(open_socket(target, {}));
  EXPECT_FALSE(open_socket(target, {})) << "used";
  EXPECT_TRUE(open_socket(target + "&after=1", {}));
  EXPECT_FALSE(open_socket("/api/v1/events?ticket=" + ticket + "&after=0", {})) << "another stream";
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks?ticket=" + ticket, "", {}).status, 401) << "not a stream";

  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks?token=" + admin_, "", {}).status, 401);
  ApiConfig older = config_;
  older.allow_token_parameter = true;
  restart_with(older);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks?token=" + admin_, "", {}).status, 200);
  for (const auto& record : audit_.records()) {
    EXPECT_EQ(record.path.find(admin_), std::string::npos);
    EXPECT_EQ(record.path.find(ticket), std::string::npos);
  }
}

TEST_F(AccessApi, AProducerOfOneTaskSeesOnlyThatTask) {
  create("t1");
  create("t2");
  std::string secret = token("p", Scope::producer, "t1");
  auto socket = open_socket("/api/v1/events", bearer(secret));
  ASSERT_TRUE(socket);
  next(*socket, "caught_up");
  append_lines("t2", 1);
  append_lines("t1", 1);
  EXPECT_EQ(next(*socket, "task_event").at("taskID").as_string(), "t1");
  EXPECT_FALSE(open_socket("/api/v1/events?tasks=t2", bearer(secret)));
  ASSERT_TRUE(socket->send(R"({"type":"subscribe","tasks":["t2"]})"));
  EXPECT_EQ(next(*socket, "error").at("data").at("code").as_string(), "forbidden");
}

TEST_F(AccessApi, WithoutAuthenticationAnOlderRunnerNeedsNoToken) {
  create("t1");
  ApiConfig open = config_;
  open.internal_listener.auth = false;
  restart_with(open);
  EXPECT_EQ(
      call(*internal_, "POST", "/api/v1/tasks/t1/events", R"({"sequence":1,"type":"log","summary":"a"})", {}).status,
      200);
  EXPECT_EQ(call(*internal_, "POST", "/api/v1/tasks/t1/status", R"({"event":"completed","message":"ok"})", {}).status,
            200);
  EXPECT_EQ(
      call(*internal_, "POST", "/api/v1/tasks/t1/events", R"({"type":"log"})", {{"Origin", "https://evil.com"}}).status,
      403)
      << "a web page must not post there";
  EXPECT_EQ(call(*public_, "GET", "/api/v1/tasks", "", {}).status, 401) << "the other listener is not open";
}

}  // namespace
}  // namespace shepherd
