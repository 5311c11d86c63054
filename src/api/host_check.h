// Which Host and Origin headers are believed. Keeps web pages of other origins (and of names that were rebound to this
// machine's address) from using a person's browser against the API.
// Threads: value.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/api.h"
#include "base/result.h"
#include "net/http.h"

namespace shepherd {

// Bare addresses and loopback names are always good: only names can be rebound. A request without a Host is not a
// browser's. permission_denied/bad_host.
Result<void> check_host(const net::Request& request, const ListenerConfig& config);

// Cookies know no ports: what is set for 127.0.0.1 goes to every server on this machine that a browser visits, an
// agent's own among them. So browsers sign in under a name that is ours alone; they know by themselves that names
// under localhost are this machine.
inline constexpr std::string_view kPageHost = "shepherd.localhost";
// The address of the page for a browser that called us by a loopback address or by "localhost": "http://" and that
// name, with the same port. Empty: it is the right place already, or over TLS, where a certificate knows its own names.
std::string own_name_url(std::string_view host, bool secure);

// Whether browsers may be told to use TLS for everything under this Host: a name of its own, not this machine's
// loopback names, which other servers share.
bool is_own_domain(std::string_view host);

enum class OriginRule {
  if_sent,   // an Origin header, when there is one, must be ours: browsers send it whenever it matters
  required,  // the request rides on a cookie and changes something: it must prove that it came from our page
};
// permission_denied/bad_origin.
Result<void> check_origin(const net::Request& request, const ListenerConfig& config, OriginRule rule);

}  // namespace shepherd
