// Browsers: a one-time login link becomes a session cookie.
#include <utility>

#include "access/limits.h"
#include "api/handlers.h"
#include "api/query.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::string session_cookie(std::string_view value, std::int64_t seconds, bool secure) {
  std::string cookie(kSessionCookie);
  cookie += '=';
  cookie += value;
  cookie += "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(seconds);
  if (secure) cookie += "; Secure";
  return cookie;
}

// A person reads this answer, so it is a page.
void refuse_login(Call call, int status) {
  net::Response response;
  response.status = status;
  response.content_type = "text/html; charset=utf-8";
  response.body =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Shepherd: login</title>"
      "<main><h1>This login link does not work</h1>"
      "<p>It was used already, is too old, or is not complete. Make a new one on the machine that runs Shepherd:</p>"
      "<pre>shepherd token login-link</pre><p>Restarting <code>shepherd serve</code> prints one too.</p></main></html>";
  response.headers.emplace_back("Cache-Control", "no-store");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="shepherd")");
  call.send_page(std::move(response));
}

}  // namespace

void login(Call call) {
  Core& core = call.core();
  if (auto good = core.failed_logins.check(call.request().peer); !good) return call.fail(good.error());
  auto query = Query::parse(call.query());
  std::string code = query ? std::string(query->text("code").value_or("")) : std::string();
  Access& access = call.parts().access;
  access.redeem_login_code(code, [call = std::move(call)](Result<NewToken> session) mutable {
    if (!session) {
      if (session.error().code != ErrorCode::unauthenticated) return call.fail(session.error());
      call.core().failed_logins.failed(call.request().peer);
      return refuse_login(std::move(call), 401);
    }
    auto person = std::make_shared<Principal>();
    person->person = session->info.name;
    person->token_id = session->info.id;
    call.set_principal(std::move(person));
    net::Response response;
    response.status = 303;
    response.headers.emplace_back("Location", "/");
    std::int64_t seconds = std::chrono::seconds(kSessionLife).count();
    response.headers.emplace_back("Set-Cookie", session_cookie(session->secret, seconds, call.request().secure));
    call.send(std::move(response));
  });
}

void create_login_link(Call call) {
  std::string code = call.parts().access.make_login_code(*call.principal());
  std::string path = "/login?code=" + code;
  std::string_view host = call.request().header("host");
  std::string url = host.empty() ? path : (call.request().secure ? "https://" : "http://") + std::string(host) + path;
  std::string body = R"({"code":)";
  append_json_string(body, code);
  body += R"(,"path":)";
  append_json_string(body, path);
  body += R"(,"url":)";
  append_json_string(body, url);
  body += R"(,"expiresInSeconds":)" + std::to_string(kLoginLinkLife.count() / 1000) + "}";
  call.send_json(201, std::move(body));
}

void logout(Call call) {
  auto answer = [](Call answered) {
    net::Response response;
    response.status = 204;
    response.headers.emplace_back("Set-Cookie", session_cookie("", 0, answered.request().secure));
    answered.send(std::move(response));
  };
  // Only a browser's session ends here; a token given in a header belongs to whoever made it.
  if (call.credential() != CredentialKind::cookie) return answer(std::move(call));
  Access& access = call.parts().access;
  std::string id = call.principal()->token_id;
  access.revoke_token(std::move(id), [call = std::move(call), answer](Result<void> revoked) mutable {
    if (!revoked && revoked.error().code != ErrorCode::not_found) return call.fail(revoked.error());
    answer(std::move(call));
  });
}

void whoami(Call call) {
  const Principal& principal = *call.principal();
  std::string body = R"({"person":)";
  append_json_string(body, principal.person);
  body += R"(,"scope":)";
  append_json_string(body, name(principal.scope));
  if (!principal.only_task.empty()) {
    body += R"(,"task":)";
    append_json_string(body, principal.only_task);
  }
  if (!principal.token_id.empty()) {
    body += R"(,"tokenID":)";
    append_json_string(body, principal.token_id);
  }
  body += '}';
  call.send_json(200, std::move(body));
}

}  // namespace shepherd
