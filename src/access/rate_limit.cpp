#include "access/rate_limit.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "access/limits.h"

namespace shepherd {
namespace {

constexpr double kMinuteMs = 60'000;
constexpr double kDrainPerMs = kFailedLoginsPerMinute / kMinuteMs;

}  // namespace

Result<void> FailedLoginLimit::check(std::string_view peer) {
  std::int64_t now_ms = clock_.steady_ms();
  // A minute after the last failure anywhere, every peer's count is back to zero.
  if (static_cast<double>(now_ms - last_failure_ms_.load(std::memory_order_relaxed)) > kMinuteMs) return {};
  std::string address = address_of(peer);
  MutexLock lock(mutex_);
  auto known = known_.find(address);
  if (known == known_.end()) return {};
  double over = failures_at(*known->second, now_ms) - (kFailedLoginsPerMinute - 1);
  if (over <= 0) return {};
  auto wait_seconds = static_cast<std::int64_t>(std::ceil(over / kDrainPerMs / 1000));
  return fail(Error{
      ErrorCode::rate_limited,
      "too_many_failures",
      "too many wrong credentials from this address; wait a moment",
      {}}.with("retryAfterSeconds", std::max<std::int64_t>(wait_seconds, 1)));
}

void FailedLoginLimit::failed(std::string_view peer) {
  std::int64_t now_ms = clock_.steady_ms();
  std::string address = address_of(peer);
  MutexLock lock(mutex_);
  last_failure_ms_.store(now_ms, std::memory_order_relaxed);
  auto known = known_.find(address);
  if (known == known_.end()) {
    if (peers_.size() >= kFailedLoginPeers) {
      known_.erase(peers_.front().address);
      peers_.pop_front();
    }
    peers_.push_back({address, 1, now_ms});
    known_.emplace(std::move(address), std::prev(peers_.end()));
    return;
  }
  Peer& found = *known->second;
  // Capped, so that the peer may try again within a minute however many failures came at once.
  found.failures = std::min(failures_at(found, now_ms) + 1, static_cast<double>(kFailedLoginsPerMinute));
  found.at_ms = now_ms;
  peers_.splice(peers_.end(), peers_, known->second);
}

double FailedLoginLimit::failures_at(const Peer& peer, std::int64_t now_ms) {
  return std::max(0.0, peer.failures - static_cast<double>(now_ms - peer.at_ms) * kDrainPerMs);
}

std::string FailedLoginLimit::address_of(std::string_view peer) {
  std::string_view host = peer;
  if (host.starts_with('[')) {  // "[::1]:8080"
    host = host.substr(1, host.find(']') == std::string_view::npos ? std::string_view::npos : host.find(']') - 1);
  } else if (std::ranges::count(host, ':') == 1) {
    host = host.substr(0, host.find(':'));
  }
  std::string text(host);
  std::array<char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return text;
  in6_addr address;
  std::memcpy(&address, bytes.data(), sizeof address);
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text;
  return {bytes.data(), 8};
}

}  // namespace shepherd
