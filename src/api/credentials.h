// Finds the credential in a request. Pure text processing; access/ validates it.
// Threads: value.
#pragma once

#include <cstdint>
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
  bool stream = false;           // the route accepts tickets
  bool token_parameter = false;  // ?token= is allowed
};

// Returns the first of: Authorization, WebSocket subprotocol, ticket, token parameter, cookie. A malformed one has an
// empty secret, which is never valid, so a client that meant to authenticate gets an error.
Credential find_credential(const net::Request& request, CredentialRules rules);

// Returns the value of a cookie; empty if absent.
std::string_view cookie_value(std::string_view cookies, std::string_view name);
// Whether the client offered our subprotocol.
bool offers_subprotocol(const net::Request& request);
// "Bearer x" -> "x"; empty for other schemes.
std::string_view bearer_secret(std::string_view authorization);

}  // namespace shepherd
