// Plain requests beside the load: creating tasks, reading metrics and pages. Waits for the answers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/link.h"

namespace shepherd::bench {

struct HttpRequest {
  std::string method = "GET";
  std::string target;
  std::string headers = {};  // each ends with a line break
  std::string body = {};
};
struct HttpAnswer {
  int status = 0;
  std::string body;
};

// Sends all requests over a few connections and returns the answers in the same order. unavailable if a connection ends
// or the time is over; a status is never an error.
// Threads: caller.
Result<std::vector<HttpAnswer>> http_calls(const Address& at, const std::vector<HttpRequest>& requests,
                                           std::size_t connections = 16, double seconds = 60);
Result<HttpAnswer> http_call(const Address& at, const HttpRequest& request, double seconds = 60);

}  // namespace shepherd::bench
