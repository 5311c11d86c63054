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

enum class OriginRule {
  if_sent,   // an Origin header, when there is one, must be ours: browsers send it whenever it matters
  required,  // the request rides on a cookie and changes something: it must prove that it came from our page
};
// permission_denied/bad_origin.
Result<void> check_origin(const net::Request& request, const ListenerConfig& config, OriginRule rule);

}  // namespace shepherd
