// Browser sign-in: links, pasted tokens, the scope of the cookie and its use.
#include "api/api_fixture.h"
#include "api/host_check.h"

namespace shepherd {
namespace {

class LoginApi : public ApiFixture {
 protected:
  std::string link_path(const std::string& secret) {
    auto link = call(*public_, "POST", "/api/v1/login-links", "{}", bearer(secret));
    EXPECT_EQ(link.status, 201) << link.body;
    return std::string(parsed(link).at("path").as_string());
  }
  static std::string cookie_of(const net::ClientResponse& answer) {
    std::string cookie(answer.header("set-cookie"));
    return cookie.substr(0, cookie.find(';'));
  }
  std::string own_host() { return "shepherd.localhost:" + std::to_string(public_->port()); }
  // Sends the form of our own page as a browser does.
  net::ClientResponse paste(const std::string& form, net::HeaderList headers) {
    headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    return call(*public_, "POST", "/login", form, std::move(headers));
  }
};

TEST_F(LoginApi, TheSessionCookieIsNoBearerTokenAnywhere) {
  create("t1");
  std::string cookie = cookie_of(call(*public_, "GET", link_path(admin_), "", {}));
  ASSERT_TRUE(cookie.starts_with("shepherd_session=shs_")) << cookie;
  std::string secret = cookie.substr(cookie.find('=') + 1);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", {{"Cookie", cookie}}).status, 200);
  for (net::HttpServer* server : {public_.get(), internal_.get()}) {
    EXPECT_EQ(call(*server, "GET", "/api/v1/tasks/t1/events", "", bearer(secret)).status, 401);
  }
  EXPECT_EQ(call(*public_, "POST", "/api/v1/tokens", R"({"name":"x","scope":"admin"})", bearer(secret)).status, 401);
  EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", {{"Cookie", "shepherd_session=" + admin_}}).status, 401);
}

TEST_F(LoginApi, ABrowserIsSentToANameOfItsOwnBeforeItGetsACookie) {
  std::string path = link_path(admin_);
  std::string port = ":" + std::to_string(public_->port());
  for (std::string host : {"127.0.0.1" + port, "localhost" + port, "LOCALHOST" + port, "[::1]" + port}) {
    for (const std::string& target : {path, std::string("/?task=t1&at=8"), std::string("/login")}) {
      auto answer = call(*public_, "GET", target, "", {{"Host", host}, {"Sec-Fetch-Mode", "navigate"}});
      EXPECT_EQ(answer.status, 302) << host << target;
      EXPECT_EQ(answer.header("location"), "http://" + own_host() + target);
      EXPECT_EQ(answer.header("set-cookie"), "");
    }
  }
  auto answer = call(*public_, "GET", path, "", {{"Host", own_host()}, {"Sec-Fetch-Mode", "navigate"}});
  EXPECT_EQ(answer.status, 303) << "the code was not used up on the way";
  EXPECT_EQ(call(*public_, "GET", "/", "", {{"Host", own_host()}, {"Sec-Fetch-Mode", "navigate"}}).status, 200);
  EXPECT_EQ(call(*public_, "GET", "/", "", {}).status, 200) << "programs are answered where they are";
  EXPECT_EQ(own_name_url("127.0.0.1:8443", true), "") << "a certificate knows its own names";
  EXPECT_EQ(own_name_url("10.0.0.1:80", false), "");
  EXPECT_EQ(own_name_url("127.evil.com:80", false), "");
}

TEST_F(LoginApi, LookingAtALinkDoesNotUseItUp) {
  std::string path = link_path(admin_);
  EXPECT_EQ(call(*public_, "HEAD", path, "", {}).status, 200);
  EXPECT_EQ(call(*public_, "GET", path, "", {}).status, 303);
}

TEST_F(LoginApi, AUsedLinkLeadsASignedInBrowserToThePage) {
  std::string path = link_path(admin_);
  std::string cookie = cookie_of(call(*public_, "GET", path, "", {}));
  for (const std::string& target : {path, std::string("/login")}) {
    auto again = call(*public_, "GET", target, "", {{"Cookie", cookie}});
    EXPECT_EQ(again.status, 302) << target;
    EXPECT_EQ(again.header("location"), "/");
  }
  EXPECT_EQ(call(*public_, "GET", path, "", {{"Cookie", "shepherd_session=shs_x"}}).status, 401);
  // Another person's good link still signs that person in.
  auto other = call(*public_, "GET", link_path(token("ann", Scope::viewer)), "", {{"Cookie", cookie}});
  EXPECT_EQ(other.status, 303);
  EXPECT_NE(call(*public_, "GET", "/api/v1/whoami", "", {{"Cookie", cookie_of(other)}}).body.find("\"ann\""),
            std::string::npos);
}

TEST_F(LoginApi, ATokenIsPastedOnOurOwnPageOnly) {
  std::string viewer = token("ann", Scope::viewer);
  auto form = call(*public_, "GET", "/login", "", {});
  EXPECT_EQ(form.status, 200);
  EXPECT_NE(form.body.find("action=\"/login\""), std::string::npos);
  EXPECT_NE(form.header("content-security-policy").find("form-action 'self'"), std::string::npos);
  net::HeaderList own{{"Host", own_host()}, {"Origin", "http://" + own_host()}};
  auto in = paste("token=+" + viewer + "%0A", own);
  ASSERT_EQ(in.status, 303) << in.body;
  EXPECT_EQ(in.header("location"), "/");
  EXPECT_NE(call(*public_, "GET", "/api/v1/whoami", "", {{"Cookie", cookie_of(in)}}).body.find("\"ann\""),
            std::string::npos);
  EXPECT_EQ(paste("token=" + viewer, {{"Origin", "https://evil.com"}}).status, 403);
  EXPECT_EQ(paste("token=" + viewer, {{"Origin", "null"}}).status, 403);
  EXPECT_EQ(paste("token=" + viewer, {}).status, 403);
  EXPECT_EQ(call(*public_, "POST", "/login", R"({"token":"x"})", {own[0], own[1]}).status, 415);
  EXPECT_EQ(paste("token=shp_wrong", own).status, 401);
  EXPECT_EQ(paste("", own).status, 401);
  auto program = paste("token=" + token("ci", Scope::producer), own);
  EXPECT_EQ(program.status, 401);
  EXPECT_NE(program.body.find("producer"), std::string::npos);
}

TEST_F(LoginApi, BadCredentialsOfAnAddressLockOutNoGoodOnes) {
  std::string path = link_path(admin_);
  std::string viewer = token("ann", Scope::viewer);
  int status = 0;
  for (int i = 0; i < 200 && status != 429; ++i) status = call(*public_, "GET", "/login?code=shl_x", "", {}).status;
  ASSERT_EQ(status, 429);
  EXPECT_EQ(call(*public_, "GET", path, "", {}).status, 303) << "a good link";
  EXPECT_EQ(paste("token=" + viewer, {{"Origin", public_->url()}}).status, 303) << "a good token";
}

TEST_F(LoginApi, ProducersMakeNoLoginLinksAndAdminsMakeThemForOthers) {
  std::string agent = token("agent", Scope::producer, "t1");
  EXPECT_EQ(call(*public_, "POST", "/api/v1/login-links", "{}", bearer(agent)).status, 403);
  std::string ann = token("ann", Scope::operator_);
  EXPECT_EQ(call(*public_, "POST", "/api/v1/login-links?for=agent", "{}", bearer(ann)).status, 403);
  auto link = parsed(call(*public_, "POST", "/api/v1/login-links?for=ann", "{}", bearer(admin_)));
  std::string cookie = cookie_of(call(*public_, "GET", std::string(link.at("path").as_string()), "", {}));
  EXPECT_NE(call(*public_, "GET", "/api/v1/whoami", "", {{"Cookie", cookie}}).body.find("\"ann\""), std::string::npos);
  EXPECT_EQ(call(*public_, "POST", "/api/v1/login-links?for=bob", "{}", bearer(admin_)).status, 404);
}

TEST_F(LoginApi, AHostIsANameAndAPort) {
  for (const char* host : {"localhost:80@evil", "localhost:", "localhost:80:80", "[::1]evil", "[::1", "localhost:8x",
                           "127.0.0.1:80@evil.com", "localhost:999999"}) {
    EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", {{"Host", host}, bearer(admin_)[0]}).status, 403) << host;
  }
  for (const char* host : {"localhost", "localhost:80", "[::1]", "[::1]:80", "127.0.0.1", "shepherd.localhost:1"}) {
    EXPECT_EQ(call(*public_, "GET", "/api/v1/whoami", "", {{"Host", host}, bearer(admin_)[0]}).status, 200) << host;
  }
}

}  // namespace
}  // namespace shepherd
