// A WebSocket after its handshake: reads frames from the shared read buffer and sends the handler's framed bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/live_connection.h"
#include "net/websocket_frame.h"

namespace shepherd::net {

// Answers pings and closes, pings a silent peer, and ends a peer that violates the protocol with the matching code.
// Threads: strand.
class WebSocketConnection final : public LiveConnection {
 public:
  WebSocketConnection(Shard& shard, Socket socket, SendQueue outbox, std::shared_ptr<StreamHandler> handler);

  // `early` are bytes that arrived with the handshake.
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
  std::int64_t quiet_since_ms_;            // time of the peer's last byte, or of our last ping
  std::int8_t unanswered_pings_ = 0;
};

}  // namespace shepherd::net
