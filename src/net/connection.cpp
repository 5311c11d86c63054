#include "net/connection.h"

#include <sys/epoll.h>

#include "net/limits.h"
#include "net/shard.h"

namespace shepherd::net {

Connection::Connection(Shard& shard, Socket socket, SendQueue outbox)
    : shard_(shard), socket_(std::move(socket)), outbox_(std::move(outbox)), loop_(shard.loop()) {}

std::int64_t Connection::now_ms() const {
  return shard_.core().clock.steady_ms();
}

void Connection::enter() {
  self_ = shared_from_this();
  shard_.link(*this);
}

void Connection::leave() {
  if (!self_) return;
  shard_.unlink(*this);
  // Events of this loop turn may still refer to it.
  loop().post([keep = std::move(self_)] {});
}

void Connection::release() {
  if (!self_) return;
  loop().unwatch(socket_.fd());
  socket_.close();
  leave();
  shard_.core().connection_gone();
}

void Connection::note_end(std::uint32_t epoll_events) {
  if ((epoll_events & (EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) peer_ended_ = true;
}

SendQueue::Status Connection::note(SendQueue::Outcome outcome) {
  shard_.count_sent(outcome.bytes);
  if (outcome.status == SendQueue::Status::kept && (outcome.bytes > 0 || progress_ms_ == 0)) progress_ms_ = now_ms();
  if (outcome.status == SendQueue::Status::sent) progress_ms_ = 0;
  return outcome.status;
}

bool Connection::write_deadline_passed(std::int64_t now) const {
  return !outbox_.empty() && now - progress_ms_ >= shard_.core().options.deadlines.write.count();
}

Connection::Drained Connection::discard_input() {
  for (int reads = 0; reads < kReadsPerTurn; ++reads) {
    auto outcome = socket_.read(loop().read_buffer());
    if (outcome.status == Socket::Status::again) return Drained::all;
    if (outcome.status != Socket::Status::ok) return Drained::end;
    shard_.count_received(outcome.bytes);
    if (outcome.drained && !peer_ended_) return Drained::all;
  }
  return Drained::more;
}

}  // namespace shepherd::net
