// The address of an HTTP or WebSocket server, and of one thing on it.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd::net {

struct Url {
  bool secure = false;  // https, wss
  std::string host;     // without brackets
  std::string port;
  std::string target;  // path and query, at least "/"
};
// http, https, ws, wss; no user name. Errors: invalid_argument/bad_url.
Result<Url> parse_url(std::string_view url);

// "example.org", "[::1]:8080": the value of a Host header, and the peer's name in messages.
std::string host_header(const Url& url);
// The same, always with the port: "example.org:443".
std::string host_and_port(const Url& url);

}  // namespace shepherd::net
