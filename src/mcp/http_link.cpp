#include "mcp/http_link.h"

#include <algorithm>
#include <utility>

#include "mcp/limits.h"

namespace shepherd {

McpHttpLink::McpHttpLink(McpHttpCore& core, McpLinkObserver& observer)
    : core_(core),
      observer_(observer),
      stream_pause_(kMcpRetryPause),
      stream_again_(core.timers, [this] { listen(); }) {}

McpHttpLink::~McpHttpLink() {
  cut();
}

void McpHttpLink::cut() {
  for (auto& [id, each] : requests_) each->cancel();
  for (auto& [key, each] : notices_) each->cancel();
  if (stream_) stream_->cancel();
  stream_again_.disarm();
  requests_.clear();
  notices_.clear();
  stream_.reset();
}

void McpHttpLink::send(McpOutgoing message) {
  std::int64_t id = message.id;
  if (id == 0 && notices_.size() >= kMaxMcpReplies) return;
  McpExchangeOwner& owner = *this;
  auto exchange = std::make_shared<McpExchange>(core_, owner, McpExchange::Kind::message, std::move(message));
  if (id == 0) {
    notices_.emplace(exchange.get(), exchange);
  } else {
    requests_.emplace(id, exchange);
  }
  exchange->start();
}

void McpHttpLink::drop(std::int64_t id) {
  auto found = requests_.find(id);
  if (found == requests_.end()) return;
  auto exchange = std::move(found->second);
  requests_.erase(found);
  exchange->cancel();
}

void McpHttpLink::speak(std::string_view version) {
  core_.version = version;
  if (version.empty()) core_.session.clear();
}

void McpHttpLink::listen() {
  if (stream_) stream_->cancel();
  McpExchangeOwner& owner = *this;
  stream_ = std::make_shared<McpExchange>(core_, owner, McpExchange::Kind::stream, McpOutgoing{});
  stream_->start();
}

void McpHttpLink::on_exchange_message(McpMessage&& message) {
  stream_pause_ = kMcpRetryPause;
  observer_.on_message(std::move(message));
}

void McpHttpLink::on_exchange_end(McpExchange& exchange, std::optional<McpFault> fault) {
  if (exchange.kind() == McpExchange::Kind::stream) return stream_ended(fault);
  std::int64_t id = exchange.id();
  if (id == 0) {
    notices_.erase(&exchange);
    return;
  }
  requests_.erase(id);
  if (fault) observer_.on_failed(id, *std::move(fault));
}

// A server that refuses the stream (405) has none. Other ends pass.
void McpHttpLink::stream_ended(const std::optional<McpFault>& fault) {
  stream_.reset();
  if (fault && (fault->kind == McpFault::Kind::refused || fault->kind == McpFault::Kind::session_lost)) return;
  stream_again_.arm(std::chrono::steady_clock::now() + stream_pause_);
  stream_pause_ = std::min(2 * stream_pause_, kMostMcpRetryPause);
}

void McpHttpLink::end(std::function<void()> done) {
  cut();
  if (core_.session.empty()) {
    core_.loop.post([done = std::move(done)] { done(); });
    return;
  }
  net::CallRequest request = core_.request("DELETE", core_.key.last());
  request.timeouts.whole = kMcpFarewellWait;
  core_.session.clear();
  net::ClientBounds bounds;
  bounds.max_response_bytes = kMaxMcpFaultBytes;
  farewell_ = std::make_unique<net::WholeAnswer>(bounds, [done = std::move(done)](const auto&) { done(); });
  farewell_call_ = core_.caller.start(std::move(request), *farewell_);
}

}  // namespace shepherd
