#include "net/http_connection.h"

#include <sys/epoll.h>

#include <array>
#include <utility>

#include "net/event_stream_connection.h"
#include "net/limits.h"
#include "net/shard.h"
#include "net/websocket_connection.h"
#include "net/websocket_handshake.h"

namespace shepherd::net {

HttpConnection::HttpConnection(Shard& shard, Socket socket, std::string peer)
    : Connection(shard, std::move(socket), SendQueue()),
      reader_(shard.core().handler),
      peer_(std::move(peer)),
      body_share_(shard.core().bodies),
      since_ms_(shard.core().clock.steady_ms()) {
  start_next_request();
}

// The peer is set before the head arrives, because admission reads it.
void HttpConnection::start_next_request() {
  reader_.start_next();
  Request& request = reader_.request();
  request.peer = peer_;
  request.secure = socket_.secure();
  request.connection_slot = &slot_;
}

void HttpConnection::start(bool refuse) {
  enter();
  if (!loop().watch(socket_.fd(), *this)) return release();
  if (!refuse) return;
  shard_.core().metrics.refused.add();
  respond(shard_.core().handler.protocol_error(503, "too_many_connections",
                                               "the server has as many connections as it takes; try again later"));
  send_batch();
}

Executor& HttpConnection::executor() {
  return loop();
}

void HttpConnection::on_events(std::uint32_t events) {
  if (!is_open()) return;
  note_end(events);
  if ((events & (EPOLLERR | EPOLLHUP)) != 0 && phase_ == Phase::in_flight) return release();
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) readable_ = true;
  if (socket_.secure()) readable_ = true;  // a handshake may have waited for either direction
  if (((events & EPOLLOUT) != 0 || socket_.secure()) && !outbox_.empty()) {
    written(note(outbox_.flush(socket_)));
    if (!is_open()) return;
  }
  step();
}

void HttpConnection::step() {
  if (phase_ != Phase::lingering) return advance();
  switch (discard_input()) {
    case Drained::end:
      return release();
    case Drained::more:
      return step_later();
    case Drained::all:
      return;
  }
}

void HttpConnection::step_later() {
  if (std::exchange(step_posted_, true)) return;
  loop().post([self = std::static_pointer_cast<HttpConnection>(shared_from_this())] {
    self->step_posted_ = false;
    if (self->is_open()) self->step();
  });
}

// Continues until nothing is left to read, a request is being handled, or the peer does not read the answers.
void HttpConnection::advance() {
  for (int reads = 0; is_open() && phase_ == Phase::reading && outbox_.empty();) {
    if (!held_.empty()) {
      std::string_view bytes = std::string_view(held_).substr(held_from_);
      consume(bytes);
      held_from_ = held_.size() - bytes.size();
      if (bytes.empty()) {
        held_ = std::string();
        held_from_ = 0;
      }
    } else if (!readable_) {
      break;
    } else if (reads++ == kReadsPerTurn) {
      step_later();
      break;
    } else {
      read_more();
    }
    if (std::exchange(answered_inside_, false)) deliver();  // a stream, which also takes held_
  }
  send_batch();
}

void HttpConnection::read_more() {
  auto buffer = loop().read_buffer();
  auto outcome = socket_.read(buffer);
  switch (outcome.status) {
    case Socket::Status::again:
      readable_ = false;
      return;
    case Socket::Status::failed:
      return release();
    case Socket::Status::end:
      send_batch();
      if (is_open() && outbox_.empty()) return release();
      phase_ = Phase::last_words;
      return;
    case Socket::Status::ok:
      break;
  }
  shard_.count_received(outcome.bytes);
  if (outcome.drained && !peer_ended_) readable_ = false;
  std::string_view bytes(buffer.data(), outcome.bytes);
  consume(bytes);
  if (is_open()) held_.assign(bytes);
}

void HttpConnection::consume(std::string_view& bytes) {
  while (phase_ == Phase::reading && outbox_.empty() && !bytes.empty()) {
    switch (reader_.read(bytes)) {
      case RequestReader::Outcome::need_more:
        if (!count_body()) return;
        if (reader_.take_continue()) batch_ += "HTTP/1.1 100 Continue\r\n\r\n";
        if (auto stage = reader_.stage(); stage != std::exchange(stage_, stage)) since_ms_ = now_ms();
        return;
      case RequestReader::Outcome::refused:
        bytes = {};
        return refuse();
      case RequestReader::Outcome::complete:
        dispatch();
        break;
    }
    if (!is_open()) return;
    // Answers of pipelined requests are sent together, up to a bound.
    if (batch_.size() >= kReadBufferBytes) send_batch();
  }
}

bool HttpConnection::count_body() {
  std::string& body = reader_.request().body;
  if (body.empty()) return true;
  const std::string& caller = reader_.caller();
  auto outcome = body_share_.grow_to(body.size(), caller.empty() ? peer_.substr(0, peer_.rfind(':')) : caller);
  if (outcome == BodyBudget::Outcome::taken) return true;
  std::string().swap(body);  // an assignment would keep the memory
  shard_.core().metrics.protocol_errors.add();
  if (outcome == BodyBudget::Outcome::caller_full) {
    respond_error(429, "too_many_unfinished_requests",
                  "the requests you have begun and not finished are too large together; finish them, then try again");
  } else {
    respond_error(503, "too_many_unfinished_requests",
                  "the requests that callers have begun and not finished are too large together; try again later");
  }
  return false;
}

void HttpConnection::dispatch() {
  Request& request = reader_.request();
  head_request_ = request.method == "HEAD";
  if (request.is_websocket) websocket_key_ = request.header("sec-websocket-key");
  phase_ = Phase::in_flight;
  stage_ = RequestReader::Stage::idle;
  in_handler_ = true;
  shard_.core().handler.handle(std::move(request),
                               Responder(std::static_pointer_cast<HttpConnection>(shared_from_this())));
  in_handler_ = false;
  // Appends a plain response here, so that the next pipelined request follows in the same turn.
  if (answered_inside_ && std::holds_alternative<Response>(answer_)) {
    answered_inside_ = false;
    respond(std::get<Response>(std::exchange(answer_, NoAnswer{})));
  }
}

void HttpConnection::answer(Answer answer) {
  answer_ = std::move(answer);
  if (!loop().in_loop()) {
    loop().post([self = std::static_pointer_cast<HttpConnection>(shared_from_this())] {
      if (self->is_open()) self->deliver();
    });
  } else if (in_handler_) {
    answered_inside_ = true;
  } else if (is_open()) {
    deliver();
  }
}

void HttpConnection::deliver() {
  Answer answer = std::exchange(answer_, NoAnswer{});
  if (auto* stream = std::get_if<StreamAnswer>(&answer)) return start_event_stream(std::move(*stream));
  if (auto* upgrade = std::get_if<UpgradeAnswer>(&answer)) return start_websocket(std::move(*upgrade));
  if (auto* response = std::get_if<Response>(&answer)) {
    respond(std::move(*response));
  } else {
    respond_error(500, "no_answer", "the server gave up on this request; try again");
  }
  send_batch();
  // Not called directly: this may run inside another connection's callback, whose bytes are in the read buffer.
  if (is_open() && phase_ == Phase::reading && (readable_ || !held_.empty())) step_later();
}

void HttpConnection::respond(Response&& response) {
  bool keep = reader_.keep_alive() && !response.close && !shard_.draining() && phase_ == Phase::in_flight;
  HeadOptions options{.date = shard_.date(), .connection = {}, .content_length = {}};
  if (!keep) {
    options.connection = "close";
  } else if (reader_.http10()) {
    options.connection = "keep-alive";
  }
  body_share_.give_back();
  if (!bodiless(response.status)) options.content_length = response.body.size();
  if (batch_.capacity() == 0) batch_ = loop().take_buffer();
  append_head(batch_, response, options);
  if (!head_request_ && !bodiless(response.status)) {
    if (response.body.size() <= kInlineBodyBytes) {
      batch_ += response.body;
    } else {
      const std::array<ByteSpan, 2> spans{own_bytes(std::move(batch_)), own_bytes(std::move(response.body))};
      batch_ = std::string();
      if (note(outbox_.write(socket_, spans)) == SendQueue::Status::failed) return release();
    }
  }
  phase_ = keep ? Phase::reading : Phase::last_words;
  since_ms_ = now_ms();
  if (keep) start_next_request();
}

void HttpConnection::respond_error(int status, std::string_view reason, std::string_view message) {
  Response response = shard_.core().handler.protocol_error(status, reason, message);
  if (status == 426) {
    response.headers.emplace_back("Upgrade", "websocket");
    response.headers.emplace_back("Sec-WebSocket-Version", "13");
  }
  respond(std::move(response));
}

void HttpConnection::refuse() {
  auto& refusal = reader_.refusal();
  head_request_ = reader_.request().method == "HEAD";
  shard_.core().metrics.protocol_errors.add(refusal.response ? 0 : 1);
  if (refusal.response) {
    respond(std::move(*refusal.response));
  } else {
    respond_error(refusal.status, refusal.reason, refusal.message);
  }
}

void HttpConnection::start_event_stream(StreamAnswer&& answer) {
  body_share_.give_back();
  HeadOptions options{.date = shard_.date(), .connection = "close", .content_length = {}};
  append_head(batch_, answer.head, options);
  if (head_request_) {
    phase_ = Phase::last_words;
    return send_batch();
  }
  auto stream = std::make_shared<EventStreamConnection>(shard_, std::move(socket_), std::move(outbox_),
                                                        std::move(answer.handler));
  leave();
  stream->open(batch_);
  loop().give_buffer(std::move(batch_));
}

void HttpConnection::start_websocket(UpgradeAnswer&& answer) {
  if (websocket_key_.empty()) {
    respond_error(500, "no_answer", "the server tried to upgrade a request that is no WebSocket handshake");
    return send_batch();
  }
  Response head{.status = 101, .content_type = {}, .headers = std::move(answer.headers), .body = {}};
  head.headers.emplace_back("Upgrade", "websocket");
  head.headers.emplace_back("Sec-WebSocket-Accept", websocket_accept(websocket_key_));
  if (!answer.subprotocol.empty()) head.headers.emplace_back("Sec-WebSocket-Protocol", answer.subprotocol);
  append_head(batch_, head, {.date = shard_.date(), .connection = "Upgrade", .content_length = {}});
  auto stream =
      std::make_shared<WebSocketConnection>(shard_, std::move(socket_), std::move(outbox_), std::move(answer.handler));
  leave();
  stream->open(batch_, std::string_view(held_).substr(held_from_));
  loop().give_buffer(std::move(batch_));
}

void HttpConnection::send_batch() {
  if (!is_open()) return;
  if (batch_.empty()) {
    if (phase_ == Phase::last_words) written(outbox_.empty() ? SendQueue::Status::sent : SendQueue::Status::kept);
    return;
  }
  auto status = note(outbox_.write_copy(socket_, batch_));
  loop().give_buffer(std::move(batch_));
  batch_ = std::string();
  written(status);
}

void HttpConnection::written(SendQueue::Status status) {
  if (status == SendQueue::Status::failed) return release();
  if (status == SendQueue::Status::sent && phase_ == Phase::last_words) linger();
}

// Closing with unread input would reset the connection, and the peer could lose the answer.
void HttpConnection::linger() {
  socket_.shutdown_write();
  phase_ = Phase::lingering;
  since_ms_ = now_ms();
  step_later();
}

void HttpConnection::on_sweep(std::int64_t now) {
  const Deadlines& deadlines = shard_.core().options.deadlines;
  if (write_deadline_passed(now)) {
    shard_.core().metrics.write_deadline_closes.add();
    return release();
  }
  auto passed = [&](std::chrono::milliseconds limit) { return now - since_ms_ >= limit.count(); };
  if (phase_ == Phase::lingering && passed(deadlines.linger)) return release();
  if (phase_ != Phase::reading || !outbox_.empty()) return;

  bool handshaking = !socket_.handshake_done();
  bool late = handshaking                            ? passed(deadlines.tls_handshake)
              : stage_ == RequestReader::Stage::head ? passed(deadlines.header)
              : stage_ == RequestReader::Stage::body ? passed(deadlines.body)
                                                     : passed(deadlines.idle);
  if (!late) return;
  shard_.core().metrics.deadline_closes.add();
  if (handshaking || stage_ == RequestReader::Stage::idle) return release();
  respond_error(408, "request_timeout", "the request did not arrive in time");
  send_batch();
}

void HttpConnection::drain() {
  // A started request is still answered; respond() closes after it.
  bool idle = phase_ == Phase::reading && stage_ == RequestReader::Stage::idle && held_.empty() && outbox_.empty();
  if (idle || phase_ == Phase::lingering) release();
}

}  // namespace shepherd::net
