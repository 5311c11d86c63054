// Checks Host and Origin headers. This keeps web pages of other origins (and of names rebound to this machine's
// address) from using a person's browser against the API.
// Threads: value.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/api.h"
#include "base/result.h"
#include "net/http.h"

namespace shepherd {

// Accepts bare addresses and loopback names, because only names can be rebound. A request without a Host does not come
// from a browser. permission_denied/bad_host.
Result<void> check_host(const net::Request& request, const ListenerConfig& config);

// Cookies ignore ports: a browser sends a cookie for 127.0.0.1 to every server on this machine, including an agent's
// own. Browsers therefore sign in under a name that only this server uses; they resolve names under localhost to this
// machine.
inline constexpr std::string_view kPageHost = "shepherd.localhost";
// The page's address for a browser that used a loopback address or "localhost": "http://" and that name, with the same
// port. Empty if the browser is already there, or over TLS, where the certificate determines the name.
std::string own_name_url(std::string_view host, bool secure);

// Whether the server may require TLS for everything under this Host: true for its own domain name, false for this
// machine's loopback names, which other servers share.
bool is_own_domain(std::string_view host);

enum class OriginRule {
  if_sent,   // an Origin header, if present, must be ours; browsers send it whenever it matters
  required,  // the request changes state by cookie, so it must prove that it came from our page
};
// The request's Origin if it is one of chat_origins; otherwise empty.
std::string_view chat_origin(const net::Request& request, const ListenerConfig& config);

// permission_denied/bad_origin.
Result<void> check_origin(const net::Request& request, const ListenerConfig& config, OriginRule rule);

}  // namespace shepherd
