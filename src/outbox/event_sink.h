// Where an outbox posts: one server, in the end. Behind an interface, so that a test can lose answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"
#include "client/live_client.h"

namespace shepherd {

// Blocking calls with their own deadlines; an outbox makes them one at a time.
// Threads: caller.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Events, one a line, numbered by that producer. Errors are the server's, as ApiClient gives them.
  virtual Result<Posted> post_events(const std::string& task, std::string_view ndjson, const std::string& producer) = 0;
  // A JSON array of deltas. Best effort.
  virtual Result<void> post_deltas(const std::string& task, std::string_view json) = 0;
};

// The server's internal port. Where that is, is asked again after a call that did not reach it: a server that was
// started anew, or another process that took over, may have another address.
// Everything is posted under `lease` (0: none): the server refuses what comes from a runner that has lost it.
std::unique_ptr<EventSink> make_server_sink(Locate locate, net::ClientTls tls = {}, std::int64_t lease = 0);

}  // namespace shepherd
