#include "api/credentials.h"

#include <algorithm>
#include <cctype>

#include "api/header_text.h"
#include "base/base64.h"

namespace shepherd {
namespace {

// Calls visit(part) for each part between separators until it returns true.
template <class Visit>
void each_part(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (visit(trimmed(part))) return;
  }
}

}  // namespace

std::string_view bearer_secret(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size()) return {};
  bool is_bearer = std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                              [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  return is_bearer ? trimmed(authorization.substr(kScheme.size())) : std::string_view{};
}

std::string_view cookie_value(std::string_view cookies, std::string_view name) {
  std::string_view value;
  each_part(cookies, ';', [&](std::string_view pair) {
    std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(0, equals) != name) return false;
    value = pair.substr(equals + 1);
    return true;
  });
  return value;
}

std::string_view session_cookie_name(bool secure) {
  return secure ? "__Host-shepherd_session" : "shepherd_session";
}

bool offers_subprotocol(const net::Request& request) {
  bool offered = false;
  each_part(request.header("sec-websocket-protocol"), ',', [&](std::string_view part) {
    offered = part == kSubprotocol;
    return offered;
  });
  return offered;
}

Credential find_credential(const net::Request& request, CredentialRules rules) {
  if (std::string_view header = request.header("authorization"); !header.empty()) {
    return {CredentialKind::bearer, std::string(bearer_secret(header))};
  }
  // Where chat clients put their key. A page of another origin cannot set it unasked.
  if (std::string_view key = request.header("x-api-key"); !key.empty()) {
    return {CredentialKind::bearer, std::string(key)};
  }
  Credential found;
  if (request.is_websocket) {
    constexpr std::string_view kBearer = "bearer.";
    each_part(request.header("sec-websocket-protocol"), ',', [&](std::string_view part) {
      if (!part.starts_with(kBearer)) return false;
      found = {CredentialKind::subprotocol, decode_base64url(part.substr(kBearer.size())).value_or("")};
      return true;
    });
    if (found.kind != CredentialKind::none) return found;
  }
  if (request.method == "GET") {
    std::string_view query = request.query();
    if (rules.stream) {
      if (auto ticket = net::query_value(query, "ticket")) return {CredentialKind::ticket, std::move(*ticket)};
    }
    if (rules.token_parameter) {
      if (auto token = net::query_value(query, "token")) return {CredentialKind::token_parameter, std::move(*token)};
    }
  }
  if (std::string_view cookie = cookie_value(request.header("cookie"), session_cookie_name(request.secure));
      !cookie.empty()) {
    return {CredentialKind::cookie, std::string(cookie)};
  }
  return found;
}

}  // namespace shepherd
