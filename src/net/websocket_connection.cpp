#include "net/websocket_connection.h"

#include <utility>

#include "net/limits.h"
#include "net/shard.h"

namespace shepherd::net {

namespace {

constexpr std::uint16_t kNoCode = 1005;  // "the frame had none"; never on the wire

std::uint16_t close_code(std::string_view payload) {
  if (payload.size() < 2) return kNoCode;
  return static_cast<std::uint16_t>(static_cast<unsigned char>(payload[0]) << 8 |
                                    static_cast<unsigned char>(payload[1]));
}

}  // namespace

WebSocketConnection::WebSocketConnection(Shard& shard, Socket socket, SendQueue outbox,
                                         std::shared_ptr<StreamHandler> handler)
    : LiveConnection(shard, std::move(socket), std::move(outbox), std::move(handler)), quiet_since_ms_(now_ms()) {}

void WebSocketConnection::open(std::string_view head, std::string_view early) {
  LiveConnection::open(head);
  if (!early.empty() && phase() == Phase::open) take(early);
}

void WebSocketConnection::finish(std::uint16_t code, std::string_view reason) {
  end(code, reason, CloseCause::finished);
}

void WebSocketConnection::end(std::uint16_t code, std::string_view reason, CloseCause cause) {
  if (phase() != Phase::open) return;
  std::string frame;
  if (code == kNoCode) {
    append_frame_header(frame, Opcode::close, 0);
  } else {
    append_close_frame(frame, code, reason);
  }
  queue(frame);
  end_after_flush(cause);
}

void WebSocketConnection::read_input() {
  for (int reads = 0; reads < kReadsPerTurn; ++reads) {
    auto buffer = loop().read_buffer();
    auto outcome = socket_.read(buffer);
    if (outcome.status == Socket::Status::again) return;
    if (outcome.status != Socket::Status::ok) return close(CloseCause::peer);
    shard_.count_received(outcome.bytes);
    take({buffer.data(), outcome.bytes});
    if (outcome.drained && !peer_ended_) return;
    if (phase() != Phase::open) break;
  }
  read_later();
}

void WebSocketConnection::take(std::string_view bytes) {
  quiet_since_ms_ = now_ms();
  unanswered_pings_ = 0;
  std::uint16_t violation = reader_.feed(bytes, kMaxWebSocketMessageBytes,
                                         [this](const FrameReader::Message& message) { on_frame(message); });
  if (violation != 0) {
    shard_.core().metrics.protocol_errors.add();
    end(violation, {}, CloseCause::protocol);
  }
  if (due_pong_ && phase() == Phase::open && outbox_.empty()) send_due_pong();
}

void WebSocketConnection::on_frame(const FrameReader::Message& message) {
  if (phase() != Phase::open) return;
  switch (message.opcode) {
    case Opcode::text:
      return handler().on_message(message.payload);
    case Opcode::ping:
      due_pong_ = std::make_unique<std::string>(message.payload);
      return;
    case Opcode::close:
      return end(close_code(message.payload), {}, CloseCause::peer);
    default:
      return;  // a pong only counts as received data
  }
}

void WebSocketConnection::send_due_pong() {
  std::string frame;
  append_frame(frame, Opcode::pong, *std::exchange(due_pong_, nullptr));
  queue(frame);
}

bool WebSocketConnection::before_drained() {
  if (due_pong_) send_due_pong();
  return phase() == Phase::open && outbox_.empty();
}

bool WebSocketConnection::keep_alive(std::int64_t now) {
  // A ping behind kept bytes would prove nothing; the write deadline covers those.
  if (!outbox_.empty() || now - quiet_since_ms_ < shard_.core().options.deadlines.keep_alive.count()) return true;
  if (unanswered_pings_ == kMissedPongs) {
    shard_.core().metrics.deadline_closes.add();
    close(CloseCause::no_pong);
    return false;
  }
  ++unanswered_pings_;
  quiet_since_ms_ = now;
  std::string frame;
  append_frame_header(frame, Opcode::ping, 0);
  queue(frame);
  return phase() == Phase::open;
}

}  // namespace shepherd::net
