// Encodes the head of a request.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/call_options.h"
#include "net/url.h"

namespace shepherd::net {

struct RequestText {
  std::string_view method;
  const Url& url;
  const HeaderList& headers;  // a Host header replaces the URL's
  std::size_t body_bytes = 0;
  bool absolute = false;  // for a proxy that forwards: the target is the whole URL
};
// Request line, headers and the empty line. Content-Length is written for a body and for methods that usually have one.
// Errors: invalid_argument/bad_request if method, target or a header would not stay in its place.
Result<std::string> request_head(const RequestText& request);

// A request with this method may be sent twice (RFC 9110: idempotent).
bool is_repeatable(std::string_view method);

}  // namespace shepherd::net
