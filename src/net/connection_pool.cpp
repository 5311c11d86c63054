#include "net/connection_pool.h"

#include <algorithm>
#include <array>
#include <utility>

#include "net/limits.h"

namespace shepherd::net {

namespace {

// An idle peer has nothing to say. Under TLS a read also takes in the peer's session tickets.
bool is_quiet(ClientSocket& socket) {
  std::array<char, 1> byte;
  return socket.io().read(byte).status == Socket::Status::again;
}

}  // namespace

void ConnectionPool::Kept::on_ready(std::uint32_t /*epoll_events*/) {
  if (!is_quiet(*socket)) pool->kept_.remove_if([this](const Kept& each) { return &each == this; });
}

void ConnectionPool::keep(const std::string& key, ClientSocket::Owner socket) {
  auto same = [&](const Kept& each) { return each.key == key; };
  if (static_cast<std::size_t>(std::ranges::count_if(kept_, same)) >= kIdlePerOrigin) {
    kept_.erase(std::ranges::find_if(kept_, same));
  } else if (kept_.size() >= kIdleConnections) {
    kept_.pop_front();
  }
  Kept& kept = kept_.emplace_back();
  kept.pool = this;
  kept.key = key;
  kept.socket = std::move(socket);
  kept.until = std::chrono::steady_clock::now() + kKeptIdle;
  kept.socket->use(&kept);
  expiry_.arm_by(kept.until);
}

ClientSocket::Owner ConnectionPool::take(const std::string& key) {
  drop_old();  // a loop that its caller drives has not turned since
  for (auto each = kept_.end(); each != kept_.begin();) {
    --each;
    if (each->key != key) continue;
    ClientSocket::Owner socket = std::move(each->socket);
    each = kept_.erase(each);
    socket->use(nullptr);
    // The peer's end may have arrived without its event having been handled.
    if (!socket->peer_ended() && is_quiet(*socket)) return socket;
  }
  return nullptr;
}

void ConnectionPool::drop_old() {
  TimePoint now = std::chrono::steady_clock::now();
  while (!kept_.empty() && kept_.front().until <= now) kept_.pop_front();
}

void ConnectionPool::expire() {
  drop_old();
  if (!kept_.empty()) expiry_.arm(kept_.front().until);
}

}  // namespace shepherd::net
