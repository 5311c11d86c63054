#include "net/live_connection.h"

#include <sys/epoll.h>

#include <utility>

#include "net/shard.h"

namespace shepherd::net {

LiveConnection::LiveConnection(Shard& shard, Socket socket, SendQueue outbox, std::shared_ptr<StreamHandler> handler)
    : Connection(shard, std::move(socket), std::move(outbox)), handler_(std::move(handler)) {}

Executor& LiveConnection::executor() {
  return loop();
}

void LiveConnection::open(std::string_view head) {
  enter();
  shard_.core().metrics.streams.add(1);
  progress_ms_ = outbox_.empty() ? 0 : now_ms();
  queue(head);
  loop().rewatch(socket_.fd(), *this);
  handler_->on_open(*this);
  if (shard_.draining()) drain();
}

bool LiveConnection::write(std::span<const ByteSpan> spans) {
  if (phase_ != Phase::open) return phase_ != Phase::broken;
  switch (note(outbox_.write(socket_, spans))) {
    case SendQueue::Status::sent:
      return true;
    case SendQueue::Status::kept:
      return false;
    case SendQueue::Status::failed:
      break_later(CloseCause::peer);
      return false;
  }
  return false;
}

void LiveConnection::queue(std::string_view bytes) {
  if (phase_ == Phase::broken) return;
  if (note(outbox_.write_copy(socket_, bytes)) == SendQueue::Status::failed) break_later(CloseCause::peer);
}

void LiveConnection::break_later(CloseCause cause) {
  phase_ = Phase::broken;
  loop().post([self = std::static_pointer_cast<LiveConnection>(shared_from_this()), cause] { self->close(cause); });
}

void LiveConnection::end_after_flush(CloseCause cause) {
  if (phase_ != Phase::open) return;
  phase_ = Phase::ending;
  end_cause_ = cause;
  if (!outbox_.empty()) return;
  loop().post([self = std::static_pointer_cast<LiveConnection>(shared_from_this())] { self->flushed(); });
}

void LiveConnection::flushed() {
  if (!is_open() || phase_ != Phase::ending) return;
  socket_.shutdown_write();
  phase_ = Phase::lingering;
  progress_ms_ = now_ms();  // the linger deadline starts here
  detach(end_cause_);
  read_later();
}

void LiveConnection::detach(CloseCause cause) {
  if (!handler_) return;
  auto handler = std::move(handler_);
  shard_.core().metrics.streams.add(-1);
  handler->on_close(cause);
}

void LiveConnection::close(CloseCause cause) {
  if (!is_open()) return;
  phase_ = Phase::broken;
  release();
  detach(cause);
}

void LiveConnection::on_events(std::uint32_t events) {
  if (!is_open() || phase_ == Phase::broken) return;
  note_end(events);
  if (((events & EPOLLOUT) != 0 || socket_.secure()) && !outbox_.empty()) {
    auto status = note(outbox_.flush(socket_));
    if (status == SendQueue::Status::failed) return close(CloseCause::peer);
    if (status == SendQueue::Status::sent) {
      if (phase_ == Phase::ending) {
        flushed();
      } else if (before_drained()) {
        handler_->on_drained();
      }
    }
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0 || socket_.secure()) read();
}

void LiveConnection::read() {
  if (!is_open() || phase_ == Phase::broken) return;
  if (phase_ == Phase::open) return read_input();
  switch (discard_input()) {
    case Drained::end:
      return close(CloseCause::peer);
    case Drained::more:
      return read_later();
    case Drained::all:
      return;
  }
}

void LiveConnection::read_later() {
  loop().post([self = std::static_pointer_cast<LiveConnection>(shared_from_this())] { self->read(); });
}

void LiveConnection::on_sweep(std::int64_t now) {
  if (phase_ == Phase::broken) return;
  if (phase_ == Phase::lingering) {
    if (now - progress_ms_ >= shard_.core().options.deadlines.linger.count()) close(end_cause_);
    return;
  }
  if (write_deadline_passed(now)) {
    shard_.core().metrics.write_deadline_closes.add();
    return close(CloseCause::write_deadline);
  }
  if (phase_ == Phase::open && keep_alive(now)) handler_->on_tick(now);
}

void LiveConnection::drain() {
  if (phase_ == Phase::open) handler_->on_shutdown();
}

}  // namespace shepherd::net
