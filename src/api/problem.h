// Errors as RFC 9457 problem details, and the headers that every answer carries.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http.h"

namespace shepherd {

// `{"type":"about:blank","title":…,"status":…,"detail":…,"code":…,"error":…}` and the error's own fields. `error`
// repeats the detail for older clients. Retryable errors get Retry-After, 401 gets WWW-Authenticate.
net::Response problem(const Error& error);
// The same under another status, for what the closed list of codes has no word for (405, 406, 431).
net::Response problem(const Error& error, int status);

net::Response json_response(int status, std::string body);

// nosniff, no-referrer and, unless the answer has its own Cache-Control, no-store: for everything but pages.
void add_api_headers(net::Response& response);
// The strict policy of the page: nothing inline, nothing from elsewhere, no frame around it.
void add_page_headers(net::Response& response);

}  // namespace shepherd
