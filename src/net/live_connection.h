// The common part of event streams and WebSockets: a handler that writes, kept bytes, deadlines, a clean end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "net/connection.h"
#include "net/http.h"

namespace shepherd::net {

// Never calls the handler from inside the handler's own calls: on_close() reports a failure of write() later in the
// same turn of the loop. Threads: strand.
class LiveConnection : public Connection, public StreamConnection {
 public:
  // Takes over a watched socket and sends `head` first.
  void open(std::string_view head);

  bool write(std::span<const ByteSpan> spans) override;
  Executor& executor() override;

  void on_events(std::uint32_t events) override;
  void on_sweep(std::int64_t now_ms) override;
  void drain() override;
  void cut() override { close(CloseCause::shutdown); }

 protected:
  enum class Phase : std::uint8_t {
    open,
    ending,     // the last bytes are queued; the handler is finished
    lingering,  // they are sent and the handler is gone; awaits the peer's own end
    broken      // close() follows
  };

  LiveConnection(Shard& shard, Socket socket, SendQueue outbox, std::shared_ptr<StreamHandler> handler);

  virtual void read_input() = 0;                                     // in phase open; until EAGAIN or read_later()
  virtual bool before_drained() { return true; }                     // false if bytes are kept again
  virtual bool keep_alive(std::int64_t /*now_ms*/) { return true; }  // false if it has closed

  void queue(std::string_view bytes);      // our own bytes, after the kept ones
  void end_after_flush(CloseCause cause);  // no more writes; closes when all is sent
  void close(CloseCause cause);            // now
  void read_later();
  Phase phase() const { return phase_; }
  StreamHandler& handler() { return *handler_; }

 private:
  void break_later(CloseCause cause);
  void flushed();
  void read();
  void detach(CloseCause cause);

  std::shared_ptr<StreamHandler> handler_;
  Phase phase_ = Phase::open;
  CloseCause end_cause_ = CloseCause::finished;
};

}  // namespace shepherd::net
