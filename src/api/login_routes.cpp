// Browser sign-in: a one-time login link or a pasted token becomes a session cookie.
#include <utility>

#include "access/limits.h"
#include "api/handlers.h"
#include "api/host_check.h"
#include "api/login_page.h"
#include "api/query.h"
#include "json/write.h"

namespace shepherd {
namespace {

std::string session_cookie(std::string_view value, std::int64_t seconds, bool secure) {
  std::string cookie(session_cookie_name(secure));
  cookie += '=';
  cookie += value;
  cookie += "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(seconds);
  if (secure) cookie += "; Secure";
  return cookie;
}

void send_to(Call call, int status, std::string place) {
  net::Response response;
  response.status = status;
  response.headers.emplace_back("Location", std::move(place));
  call.send(std::move(response));
}

// Sets the browser's session cookie and redirects it to the page.
void sign_in(Call call, NewToken session) {
  auto person = std::make_shared<Principal>();
  person->person = session.info.name;
  person->token_id = session.info.id;
  call.set_principal(std::move(person));
  net::Response response;
  response.status = 303;
  response.headers.emplace_back("Location", "/");
  std::int64_t seconds = std::chrono::seconds(kSessionLife).count();
  response.headers.emplace_back("Set-Cookie", session_cookie(session.secret, seconds, call.request().secure));
  call.send(std::move(response));
}

// Counts a failure for the address and reports it as a page, because a person reads it. Only failures are throttled:
// good credentials work at once, however many attempts from that address failed.
void refuse_login(Call call, LoginTrouble trouble) {
  std::string_view peer = call.request().peer;
  if (auto few = call.core().failed_logins.check(peer); !few) return call.fail(few.error());
  call.core().failed_logins.failed(peer);
  send_login_page(std::move(call), trouble);
}

bool has_session(const Call& call) {
  const net::Request& request = call.request();
  std::string_view cookie = cookie_value(request.header("cookie"), session_cookie_name(request.secure));
  return !cookie.empty() && call.parts().access.authenticate_session(cookie);
}

}  // namespace

std::string page_elsewhere(const Call& call) {
  const net::Request& request = call.request();
  const ListenerConfig& listener = call.parts().config.public_listener;
  // Configured origins are the page's own addresses, behind a proxy that may use our address.
  if (!listener.auth || !listener.origins.empty() || request.header("sec-fetch-mode") != "navigate") return {};
  return own_name_url(request.header("host"), request.secure);
}

void login(Call call) {
  if (std::string place = page_elsewhere(call); !place.empty()) {
    place += call.request().target;
    return send_to(std::move(call), 302, place);
  }
  auto query = Query::parse(call.query());
  std::string code = query ? std::string(query->text("code").value_or("")) : std::string();
  // HEAD does not use the link up.
  if (call.request().method == "HEAD") return send_login_page(std::move(call), LoginTrouble::none);
  if (code.empty()) {
    if (has_session(call)) return send_to(std::move(call), 302, "/");
    return send_login_page(std::move(call), LoginTrouble::none);
  }
  Access& access = call.parts().access;
  access.redeem_login_code(code, [call = std::move(call)](Result<NewToken> session) mutable {
    if (session) return sign_in(std::move(call), *std::move(session));
    if (session.error().code != ErrorCode::unauthenticated) return call.fail(session.error());
    // People click the link in the terminal twice.
    if (has_session(call)) return send_to(std::move(call), 302, "/");
    refuse_login(std::move(call), LoginTrouble::bad_link);
  });
}

void login_with_token(Call call) {
  if (std::string place = page_elsewhere(call); !place.empty()) {
    return send_to(std::move(call), 303, place + "/login");
  }
  std::string secret = net::query_value(call.request().body, "token").value_or("");
  secret.erase(0, std::min(secret.find_first_not_of(" \t\r\n"), secret.size()));
  secret.resize(secret.find_last_not_of(" \t\r\n") + 1);
  auto principal = call.parts().access.authenticate(secret);
  if (!principal) return refuse_login(std::move(call), LoginTrouble::bad_token);
  if ((*principal)->scope == Scope::producer) return refuse_login(std::move(call), LoginTrouble::producer);
  Access& access = call.parts().access;
  access.open_session(**principal, [call = std::move(call)](Result<NewToken> session) mutable {
    if (!session) return call.fail(session.error());
    sign_in(std::move(call), *std::move(session));
  });
}

void create_login_link(Call call) {
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  std::string whose(query->text("for").value_or(""));
  if (!whose.empty() && call.principal()->scope != Scope::admin) {
    return call.fail({ErrorCode::permission_denied, "forbidden", "Only an admin makes login links for others.", {}});
  }
  Access& access = call.parts().access;
  Result<std::string> code =
      whose.empty() ? access.make_login_code(*call.principal()) : access.make_login_code_for(whose);
  if (!code) return call.fail(code.error());
  std::string path = "/login?code=" + *code;
  std::string_view host = call.request().header("host");
  bool secure = call.request().secure;
  const ListenerConfig& listener = call.parts().config.public_listener;
  std::string base = listener.origins.empty() ? own_name_url(host, secure) : std::string();
  if (base.empty() && !host.empty()) base = (secure ? "https://" : "http://") + std::string(host);
  std::string body = R"({"code":)";
  append_json_string(body, *code);
  body += R"(,"path":)";
  append_json_string(body, path);
  body += R"(,"url":)";
  append_json_string(body, base + path);
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
  // Only a browser's session ends here; a token in a header stays valid.
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
