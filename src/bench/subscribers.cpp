#include "bench/subscribers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "bench/http_text.h"
#include "bench/interrupt.h"
#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kConnecting = 128;                  // concurrent connects, below any listen backlog
constexpr std::size_t kSubscriberReadBytes = 256 * 1024;  // fits into the second-level cache
constexpr std::size_t kMaxMessageBytes = 1024 * 1024;

// A client must mask its frames; a mask of zeros leaves the payload unchanged.
void append_pong(std::string& out, std::string_view payload) {
  out += static_cast<char>(0x80 | static_cast<int>(Opcode::pong));
  out += static_cast<char>(0x80 | static_cast<int>(payload.size()));
  out.append(4, '\0');
  out += payload;
}

}  // namespace

Subscribers::Subscribers(SubscribePlan plan, Poller& poller)
    : plan_(std::move(plan)), poller_(poller), buffer_(kMaxMessageBytes + kSubscriberReadBytes) {
  peers_.reserve(plan_.count);
}

std::size_t Subscribers::listening_to(std::size_t channel) const {
  std::size_t channels = plan_.targets.size();
  return plan_.count / channels + (channel < plan_.count % channels ? 1 : 0);
}

std::string Subscribers::request_of(std::size_t channel) const {
  std::string text =
      fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}", plan_.targets[channel], plan_.at.authority(), plan_.headers);
  text += plan_.transport == Transport::sse
              ? "Accept: text/event-stream\r\n\r\n"
              : "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: c2hlcGhlcmQtYmVuY2gtMQ==\r\n\r\n";
  return text;
}

Result<void> Subscribers::open_one() {
  Result<Link> link = Link::open(plan_.at);
  if (!link) return fail(link.error());
  std::size_t channel = peers_.size() % plan_.targets.size();
  poller_.add(link->fd(), peers_.size(), true);
  peers_.push_back({std::move(*link),
                    static_cast<std::uint32_t>(channel),
                    OrderChecker(plan_.streams, plan_.first_sequence),
                    request_of(channel),
                    {},
                    {}});
  return {};
}

Result<void> Subscribers::connect(double seconds) {
  std::uint64_t deadline = steady_ns() + seconds_as_ns(seconds);
  while (streaming_ < plan_.count) {
    if (Result<void> going = check_interrupt(); !going) return going;
    while (peers_.size() < plan_.count && peers_.size() - streaming_ < kConnecting) {
      if (Result<void> opened = open_one(); !opened) return opened;
    }
    if (steady_ns() > deadline) {
      return fail(ErrorCode::unavailable, "refused",
                  fmt::format("only {} of {} consumers were answered within {} s", streaming_, plan_.count, seconds));
    }
    for (const epoll_event& event : poller_.wait(kNsPerSecond / 10)) on_ready(event.data.u64, event.events);
    if (lost_ > 0) {
      return fail(ErrorCode::unavailable, "refused", fmt::format("a consumer was refused: {}", first_loss_));
    }
  }
  return {};
}

void Subscribers::on_ready(std::uint64_t number, std::uint32_t events) {
  if (!peers_[number].out.empty()) flush(number);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && peers_[number].state != State::lost) read(number);
}

void Subscribers::flush(std::uint64_t number) {
  Peer& peer = peers_[number];
  long sent = peer.link.send(peer.out.data(), peer.out.size());
  if (sent < 0) return lose(number, "the connection ended before the request was sent");
  peer.out.erase(0, static_cast<std::size_t>(sent));
  watch(number);
}

void Subscribers::watch(std::uint64_t number) {
  Peer& peer = peers_[number];
  bool write = !peer.out.empty() && peer.link.wants_write();
  if (write == peer.watching_write) return;
  peer.watching_write = write;
  poller_.change(peer.link.fd(), number, write);
}

void Subscribers::read(std::uint64_t number) {
  Peer& peer = peers_[number];
  char* data = buffer_.data();
  std::memcpy(data, peer.carry.data(), peer.carry.size());
  char* fresh = data + peer.carry.size();
  long got = peer.link.receive(fresh, kSubscriberReadBytes);
  if (got == 0) return;
  if (got < 0) return lose(number, peer.state == State::asking ? "no answer" : "the stream ended");
  std::uint64_t now_ns = steady_ns();
  std::size_t size = static_cast<std::size_t>(got);
  if (measuring_) {
    ++receipts_.reads;
    receipts_.bytes += size;
  }

  if (peer.state == State::asking) {
    size += peer.carry.size();
    std::size_t head = take_head(number, data, size);
    if (head == 0) {
      if (peer.state == State::asking) peer.carry.assign(data, size);
      return;
    }
    peer.carry.clear();
    data = fresh = data + head;
    size -= head;
  }
  if (peer.chunked) size = peer.chunks.decode(fresh, size);
  if (size == kBrokenStream) return lose(number, "the answer's chunks are broken");

  std::string_view bytes(data, static_cast<std::size_t>(fresh - data) + size);
  std::size_t used = walk(peer, bytes, now_ns);
  if (used == kBrokenStream || bytes.size() - used > kMaxMessageBytes) return lose(number, "the stream is broken");
  peer.carry.assign(bytes.substr(used));
  if (!peer.out.empty()) flush(number);
}

std::size_t Subscribers::take_head(std::uint64_t number, const char* data, std::size_t size) {
  Result<AnswerHead> head = read_answer_head({data, size});
  if (!head) {
    lose(number, head.error().message);
    return 0;
  }
  if (head->bytes == 0) return 0;
  int wanted = plan_.transport == Transport::sse ? 200 : 101;
  if (head->status != wanted) {
    lose(number, fmt::format("answered {}: {}", head->status,
                             std::string_view(data + head->bytes, std::min<std::size_t>(size - head->bytes, 300))));
    return 0;
  }
  Peer& peer = peers_[number];
  peer.chunked = head->chunked;
  peer.state = State::streaming;
  ++streaming_;
  return head->bytes;
}

std::size_t Subscribers::walk(Peer& peer, std::string_view bytes, std::uint64_t now_ns) {
  if (plan_.transport == Transport::sse) {
    return walk_sse(bytes, [&](std::string_view block) { take_event(peer, block, now_ns); });
  }
  return walk_websocket(bytes, [&](Opcode opcode, std::string_view payload) {
    if (opcode == Opcode::text) [[likely]] {
      take_event(peer, payload, now_ns);
    } else if (opcode == Opcode::ping) {
      append_pong(peer.out, payload.substr(0, 125));
    }
  });
}

void Subscribers::take_event(Peer& peer, std::string_view message, std::uint64_t now_ns) {
  Marker marker;
  if (!find_marker(message, marker)) return;  // caught_up, keepalive and similar
  if (marker.run != plan_.run || marker.channel != peer.channel ||
      !peer.checker.receive(marker.stream, marker.sequence)) {
    ++foreign_;
    return;
  }
  ++received_;
  newest_ns_ = now_ns;
  if (!measuring_) return;
  ++receipts_.events;
  receipts_.latency.record(now_ns > marker.time_ns ? now_ns - marker.time_ns : 0);
}

void Subscribers::lose(std::uint64_t number, std::string why) {
  Peer& peer = peers_[number];
  if (peer.state == State::streaming) --streaming_;
  peer.state = State::lost;
  poller_.remove(peer.link.fd());
  ++lost_;
  if (first_loss_.empty()) first_loss_ = std::move(why);
}

Defects Subscribers::finish(std::span<const std::vector<std::uint32_t>> sent) const {
  Defects total;
  for (const Peer& peer : peers_) total += peer.checker.finish(sent[peer.channel]);
  return total;
}

}  // namespace shepherd::bench
