// What event streams and WebSockets have in common: a handler that writes, kept bytes, deadlines, an orderly end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "net/connection.h"
#include "net/http.h"

namespace shepherd::net {

// Calls the handler never from inside the handler's own calls: what goes wrong in write() is told by on_close() later
// in the same turn of the loop. Threads: strand.
class LiveConnection : public Connection, public StreamConnection {
 public:
  // Takes over a watched socket. `head` goes out first.
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
    ending,     // the last bytes are queued; the handler has nothing more to say
    lingering,  // they are sent and the handler is gone; the peer's own end is waited for
    broken      // close() follows
  };

  LiveConnection(Shard& shard, Socket socket, SendQueue outbox, std::shared_ptr<StreamHandler> handler);

  virtual void read_input() = 0;                                     // phase open; until EAGAIN or read_later()
  virtual bool before_drained() { return true; }                     // false: something is kept again
  virtual bool keep_alive(std::int64_t /*now_ms*/) { return true; }  // false: it has closed

  void queue(std::string_view bytes);      // own bytes, behind what is kept
  void end_after_flush(CloseCause cause);  // no more writes; close when all is sent
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
