// Errors as RFC 9457 problem details, and the headers of every answer.
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
// The same with another status, for cases that the closed list of codes does not cover (405, 406, 431).
net::Response problem(const Error& error, int status);

// An error in the form of chat sessions: `{"success":false,"error":…,"code":…}`.
net::Response chat_problem(const Error& error, int status);

net::Response json_response(int status, std::string body);

// Adds nosniff, no-referrer and, unless the answer has its own Cache-Control, no-store. For everything but pages.
void add_api_headers(net::Response& response);
// Adds the page's strict policy: nothing inline, nothing from other origins, no framing.
void add_page_headers(net::Response& response);

}  // namespace shepherd
