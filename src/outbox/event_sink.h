// The destination of an outbox: one server, behind an interface so that a test can lose answers.
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
  // Posts events, one per line, numbered by that producer. Errors are the server's, as from ApiClient.
  virtual Result<Posted> post_events(const std::string& task, std::string_view ndjson, const std::string& producer) = 0;
  // Posts a JSON array of deltas. Best effort.
  virtual Result<void> post_deltas(const std::string& task, std::string_view json) = 0;
};

// Posts to the server's internal port. It looks the address up again after a call that did not reach the server,
// because a restarted server or a process that took over may have another one. Everything is posted under `lease` (0
// for none); the server refuses posts of a runner that has lost its lease.
std::unique_ptr<EventSink> make_server_sink(Locate locate, net::ClientTls tls = {}, std::int64_t lease = 0);

}  // namespace shepherd
