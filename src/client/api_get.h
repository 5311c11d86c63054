// One request to the server's public interface, for answers that are shown unchanged.
// Threads: any. Blocking.
#pragma once

#include <string>

#include "base/result.h"
#include "client/find_server.h"
#include "net/client.h"

namespace shepherd {

// Returns the JSON of a successful answer to `target` (path and query). Errors as in ApiClient.
Result<std::string> api_get(const Destination& destination, const net::ClientTls& tls, const std::string& target);
// The same for a POST with a JSON body.
Result<std::string> api_post(const Destination& destination, const net::ClientTls& tls, const std::string& target,
                             const std::string& body);

}  // namespace shepherd
