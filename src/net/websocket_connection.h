// A WebSocket after its handshake: frames in from the shared read buffer, framed bytes out as the handler gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/live_connection.h"
#include "net/websocket_frame.h"

namespace shepherd::net {

// Answers pings and closes, pings a silent peer, ends a peer that breaks the protocol with the code that says how.
// Threads: strand.
class WebSocketConnection final : public LiveConnection {
 public:
  WebSocketConnection(Shard& shard, Socket socket, SendQueue outbox, std::shared_ptr<StreamHandler> handler);

  // `early`: bytes that came behind the handshake.
  void open(std::string_view head, std::string_view early);
  void finish(std::uint16_t code, std::string_view reason) override;

 private:
  void read_input() override;
  bool before_drained() override;
  bool keep_alive(std::int64_t now_ms) override;

  void take(std::string_view bytes);
  void on_frame(const FrameReader::Message& message);
  void send_due_pong();
  void end(std::uint16_t code, std::string_view reason, CloseCause cause);

  FrameReader reader_;
  std::unique_ptr<std::string> due_pong_;  // only the newest ping needs its pong
  std::int64_t quiet_since_ms_;            // the peer's last byte, or our last ping
  std::int8_t unanswered_pings_ = 0;
};

}  // namespace shepherd::net
