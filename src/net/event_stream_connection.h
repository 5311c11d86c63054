// A server-sent event stream: a response whose body continues until the connection closes, so framed bytes are sent
// unchanged.
#pragma once

#include "net/live_connection.h"

namespace shepherd::net {

// The client sends nothing on it: its bytes are discarded, and its end ends the stream.
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
