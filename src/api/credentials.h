// Where a request carries its credential. Pure text work; access/ says whether it is good.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace shepherd {

// The cookie of a browser's session. Over TLS its name keeps other hosts from setting it.
std::string_view session_cookie_name(bool secure);
inline constexpr std::string_view kSubprotocol = "shepherd.v1";

enum class CredentialKind : std::uint8_t { none, bearer, subprotocol, ticket, token_parameter, cookie };

struct Credential {
  CredentialKind kind = CredentialKind::none;
  std::string secret;
};

struct CredentialRules {
  bool stream = false;           // the route takes tickets
  bool token_parameter = false;  // ?token= is allowed
};

// The first of: Authorization, WebSocket subprotocol, ticket, token parameter, cookie. A malformed one is found with an
// empty secret, which nothing accepts: a client that meant to authenticate is told so.
Credential find_credential(const net::Request& request, CredentialRules rules);

// The value of a cookie; empty when absent.
std::string_view cookie_value(std::string_view cookies, std::string_view name);
// Whether the client offered our subprotocol.
bool offers_subprotocol(const net::Request& request);
std::optional<std::string> decode_base64url(std::string_view text);
// "Bearer x" -> "x"; empty for other schemes.
std::string_view bearer_secret(std::string_view authorization);

}  // namespace shepherd
