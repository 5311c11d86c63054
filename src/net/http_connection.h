// One HTTP/1.x connection on its io thread: reads requests, passes them on one at a time, sends the answers in order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/body_budget.h"
#include "net/connection.h"
#include "net/request_reader.h"
#include "net/responder_target.h"

namespace shepherd::net {

// Reads into the io thread's buffer and parses from there. It owns bytes only while a request is incomplete or
// pipelined after one that is being handled. An answer that starts a stream passes the socket on to a stream
// connection.
// Threads: strand, except answer(), executor() and peer_gone(), which any thread may call for the request in flight.
class HttpConnection final : public Connection, public Responder::Target {
 public:
  HttpConnection(Shard& shard, Socket socket, std::string peer);

  // Starts to read, or answers 503 and ends if there are too many connections.
  void start(bool refuse);

  void on_events(std::uint32_t events) override;
  void on_sweep(std::int64_t now_ms) override;
  void drain() override;
  void cut() override { release(); }

  void answer(Answer answer) override;
  Executor& executor() override;
  bool peer_gone() const override { return peer_ended_; }

 private:
  enum class Phase : std::uint8_t { reading, in_flight, last_words, lingering };

  void step();
  void step_later();
  void advance();
  void consume(std::string_view& bytes);
  void start_next_request();
  void dispatch();
  void read_more();

  void deliver();
  void respond(Response&& response);
  void respond_error(int status, std::string_view reason, std::string_view message);
  void refuse();
  bool count_body();  // false if unfinished requests have too many bytes; the refusal is then sent
  void start_event_stream(StreamAnswer&& answer);
  void start_websocket(UpgradeAnswer&& answer);
  void send_batch();
  void written(SendQueue::Status status);
  void linger();

  RequestReader reader_;
  std::string peer_;
  BodyShare body_share_;
  std::shared_ptr<void> slot_;
  std::string held_;  // bytes after the request in flight
  std::size_t held_from_ = 0;
  std::string batch_;  // answers of this turn, sent together
  std::string websocket_key_;
  Answer answer_;          // written by the answering thread before it posts
  std::int64_t since_ms_;  // when the current stage of the current phase began
  RequestReader::Stage stage_ = RequestReader::Stage::idle;
  Phase phase_ = Phase::reading;
  bool readable_ = false;  // an edge arrived, and no EAGAIN since
  bool head_request_ = false;
  bool in_handler_ = false;
  bool answered_inside_ = false;  // the handler answered before it returned
  bool step_posted_ = false;
};

}  // namespace shepherd::net
