#include "net/shard.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "net/http_connection.h"
#include "net/limits.h"

namespace shepherd::net {

void Shard::start() {
  loop_.add_ticker(*this, core_.options.deadlines.sweep);
}

void Shard::open(int fd, std::string peer, bool refuse) {
  SSL* tls = nullptr;
  if (core_.tls && !ended_) {
    tls = SSL_new(core_.tls.get());
    if (tls != nullptr) {
      SSL_set_fd(tls, fd);
      SSL_set_accept_state(tls);
    }
  }
  // A TLS peer cannot get an answer before the handshake, and there is no room for a handshake.
  if (draining_ || (core_.tls && (refuse || tls == nullptr))) {
    if (tls != nullptr) SSL_free(tls);
    ::close(fd);
    core_.connection_gone();
    return;
  }
  auto connection = std::make_shared<HttpConnection>(*this, Socket(fd, tls), std::move(peer));
  connection->start(refuse);
}

void Shard::link(Connection& connection) {
  connections_.push_back(connection);
  ++count_;
}

void Shard::unlink(Connection& connection) {
  connection.unlink();
  --count_;
}

std::vector<std::shared_ptr<Connection>> Shard::snapshot() {
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(count_);
  for (Connection& connection : connections_) all.push_back(connection.shared_from_this());
  return all;
}

void Shard::drain() {
  if (std::exchange(draining_, true)) return;
  for (const auto& connection : snapshot()) connection->drain();
}

void Shard::end() {
  if (std::exchange(ended_, true)) return;
  draining_ = true;
  for (const auto& connection : snapshot()) connection->cut();
  publish_counts();
  loop_.remove_ticker(*this);
  core_.part_gone();
}

void Shard::publish_counts() {
  core_.metrics.received_bytes.add(std::exchange(received_, 0));
  core_.metrics.sent_bytes.add(std::exchange(sent_, 0));
}

// A round visits every connection once, in slices, so that ten thousand of them do not delay other work.
std::chrono::milliseconds Shard::tick() {
  publish_counts();
  const auto interval = core_.options.deadlines.sweep;
  if (left_in_round_ == 0) {
    left_in_round_ = count_;
    round_start_ = std::chrono::steady_clock::now();
  }
  std::int64_t now = core_.clock.steady_ms();
  std::size_t slice = std::max(kSweepSlice, count_ / 8);
  for (; slice > 0 && left_in_round_ > 0 && !connections_.empty(); --slice, --left_in_round_) {
    auto connection = connections_.front().shared_from_this();
    connections_.splice(connections_.end(), connections_, connections_.begin());
    connection->on_sweep(now);
  }
  if (connections_.empty()) left_in_round_ = 0;
  if (left_in_round_ > 0) return interval / 16;
  auto spent = std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - round_start_);
  return std::max(interval - spent, std::chrono::milliseconds(1));
}

}  // namespace shepherd::net
