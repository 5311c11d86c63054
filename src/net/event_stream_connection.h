// A server-sent event stream: a response whose body goes on until the connection closes, so that framed bytes go out as
// they are.
#pragma once

#include "net/live_connection.h"

namespace shepherd::net {

// The client has nothing to say on it: what it sends is thrown away, and its end is the stream's end.
// Threads: strand.
class EventStreamConnection final : public LiveConnection {
 public:
  EventStreamConnection(Shard& shard, Socket socket, SendQueue outbox, std::shared_ptr<StreamHandler> handler)
      : LiveConnection(shard, std::move(socket), std::move(outbox), std::move(handler)) {}

  void finish(std::uint16_t /*code*/, std::string_view /*reason*/) override { end_after_flush(CloseCause::finished); }

 private:
  void read_input() override;
};

}  // namespace shepherd::net
