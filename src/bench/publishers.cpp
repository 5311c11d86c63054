#include "bench/publishers.h"

#include <utility>

#include "bench/steady_time.h"

namespace shepherd::bench {
namespace {

constexpr std::size_t kPublisherReadBytes = 64 * 1024;

std::unexpected<Error> lost() {
  return fail(ErrorCode::unavailable, "connection_lost", "the server closed a producer's connection");
}

}  // namespace

Publishers::Publishers(PublishPlan plan, const PublishWire& wire, const EventTexts& texts, Poller& poller)
    : plan_(std::move(plan)),
      wire_(wire),
      texts_(texts),
      poller_(poller),
      streams_(plan_.count > plan_.channels ? (plan_.count + plan_.channels - 1) / plan_.channels : 1),
      sent_(plan_.channels, std::vector<std::uint32_t>(streams_, 0)),
      buffer_(kPublisherReadBytes) {
  peers_.reserve(plan_.count);
}

Result<void> Publishers::connect() {
  for (std::size_t i = 0; i < plan_.count; ++i) {
    Result<Link> link = Link::open(plan_.at);
    if (!link) return fail(link.error());
    poller_.add(link->fd(), kPublisherNumbers + i, false);
    peers_.push_back({std::move(*link), {}, {}, i % plan_.channels, 0, {}});
    peers_.back().watching_write = false;
    idle_.push_back(i);
  }
  return {};
}

Result<void> Publishers::on_ready(std::uint64_t number) {
  std::size_t publisher = number - kPublisherNumbers;
  Peer& peer = peers_[publisher];
  if (!peer.out.empty()) {
    if (Result<void> flushed = flush(publisher); !flushed) return flushed;
  }
  long got = peer.link.receive(buffer_.data(), buffer_.size());
  if (got < 0) return lost();
  if (got == 0) return {};
  std::uint64_t now_ns = steady_ns();
  peer.in.append(buffer_.data(), static_cast<std::size_t>(got));
  Result<std::size_t> answer = wire_.read_answer(peer.in);
  if (!answer) return fail(answer.error());
  if (*answer == 0) return {};
  peer.in.erase(0, *answer);
  return answered(publisher, now_ns);
}

Result<void> Publishers::answered(std::size_t publisher, std::uint64_t now_ns) {
  Peer& peer = peers_[publisher];
  peer.busy = false;
  --busy_;
  answered_events_ += plan_.batch;
  if (measuring_) answer_latency_.record(now_ns - peer.asked_ns);
  if (peer.due.empty()) {
    if (!plan_.paced) idle_.push_back(publisher);
    return {};
  }
  Due due = peer.due.front();
  peer.due.pop_front();
  return ask(publisher, due.channel, due.due_ns, now_ns);
}

Result<void> Publishers::publish_next(std::uint64_t now_ns) {
  std::size_t publisher = idle_.front();
  idle_.pop_front();
  std::size_t channel = channel_of(publisher);
  if (plan_.count < plan_.channels) {
    std::size_t next = channel + plan_.count;
    peers_[publisher].next_channel = next < plan_.channels ? next : publisher;
  }
  return ask(publisher, channel, now_ns, now_ns);
}

Result<void> Publishers::publish_due(std::uint64_t turn, std::uint64_t due_ns, std::uint64_t now_ns) {
  bool shared = plan_.count > plan_.channels;
  std::size_t publisher = shared ? turn % plan_.count : turn % plan_.channels % plan_.count;
  std::size_t channel = shared ? publisher % plan_.channels : turn % plan_.channels;
  if (peers_[publisher].busy) {
    peers_[publisher].due.push_back({channel, due_ns});
    return {};
  }
  return ask(publisher, channel, due_ns, now_ns);
}

Result<void> Publishers::ask(std::size_t publisher, std::size_t channel, std::uint64_t stamp_ns, std::uint64_t now_ns) {
  Peer& peer = peers_[publisher];
  auto stream = static_cast<std::uint32_t>(publisher / plan_.channels);
  std::uint32_t& sequence = sent_[channel][stream];
  body_.clear();
  for (std::size_t i = 0; i < plan_.batch; ++i) {
    if (i > 0) body_ += '\n';
    texts_.append(body_, {plan_.run, static_cast<std::uint16_t>(channel), stream, sequence++, stamp_ns});
  }
  wire_.append_request(peer.out, channel, body_);
  peer.busy = true;
  peer.asked_ns = now_ns;
  ++busy_;
  sent_events_ += plan_.batch;
  return flush(publisher);
}

Result<void> Publishers::flush(std::size_t publisher) {
  Peer& peer = peers_[publisher];
  long sent = peer.link.send(peer.out.data(), peer.out.size());
  if (sent < 0) return lost();
  peer.out.erase(0, static_cast<std::size_t>(sent));
  bool write = !peer.out.empty();
  if (write != peer.watching_write) {
    peer.watching_write = write;
    poller_.change(peer.link.fd(), kPublisherNumbers + publisher, write);
  }
  return {};
}

}  // namespace shepherd::bench
