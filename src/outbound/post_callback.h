// One attempt to send a callback.
// Threads: any. Blocking.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "base/result.h"
#include "net/client.h"

namespace shepherd {

// Sends one request and returns its HTTP status. Blocks for at most kCallbackTimeout, and not beyond a stop.
using PostCallback = std::function<Result<int>(const net::Url& url, const net::HeaderList& headers,
                                               std::string_view body, const std::stop_token& stop)>;

// The real implementation: refuses forbidden addresses after resolving, follows no redirects, and cuts its connection
// at a stop.
Result<int> post_callback(const net::Url& url, const net::HeaderList& headers, std::string_view body,
                          const std::stop_token& stop);

}  // namespace shepherd
