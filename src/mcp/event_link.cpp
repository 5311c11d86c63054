#include "mcp/event_link.h"

#include <utility>

#include "mcp/limits.h"

namespace shepherd {

std::optional<net::Url> endpoint_of(const net::Url& base, std::string_view named) {
  net::Url made = base;
  if (named.starts_with("http://") || named.starts_with("https://")) {
    auto whole = net::parse_url(named);
    // A key must not go to a server that is not configured.
    if (!whole || whole->host != base.host || whole->port != base.port || whole->secure != base.secure) return {};
    return *whole;
  }
  for (char c : named) {
    if (c <= 0x20 || c >= 0x7F) return {};
  }
  if (named.empty() || named.starts_with("//")) return {};
  if (named.starts_with('/')) {
    made.target = named;
  } else {
    std::string path = base.target.substr(0, base.target.find('?'));
    made.target = path.substr(0, path.rfind('/') + 1) + std::string(named);
  }
  return made;
}

McpEventLink::McpEventLink(McpHttpCore& core, McpLinkObserver& observer) : core_(core), observer_(observer) {
  core_.session.clear();
  core_.version.clear();
  McpExchangeOwner& owner = *this;
  stream_ = std::make_shared<McpExchange>(core_, owner, McpExchange::Kind::single, McpOutgoing{});
  stream_->start();
}

McpEventLink::~McpEventLink() {
  cut();
}

void McpEventLink::cut() {
  if (stream_) stream_->cancel();
  stream_.reset();
  for (auto& [key, each] : sent_) each.exchange->cancel();
  sent_.clear();
  waiting_.clear();
}

void McpEventLink::send(McpOutgoing message) {
  if (!stream_) return;
  if (posts_) return post(std::move(message));
  if (waiting_.size() < kMaxMcpRequests) waiting_.push_back(std::move(message));
}

void McpEventLink::post(McpOutgoing message) {
  posts_->version = core_.version;
  std::int64_t id = std::exchange(message.id, 0);  // no answer comes to the request itself
  if (id == 0 && sent_.size() >= kMaxMcpReplies + kMaxMcpRequests) return;
  McpExchangeOwner& owner = *this;
  auto exchange = std::make_shared<McpExchange>(*posts_, owner, McpExchange::Kind::message, std::move(message));
  sent_.emplace(exchange.get(), Sent{exchange, id});
  exchange->start();
}

void McpEventLink::on_exchange_event(std::string_view name, std::string_view data) {
  if (name != "endpoint" || posts_) return;
  auto address = endpoint_of(core_.url, data);
  if (!address) return close("it names an address on another server");
  posts_ = std::make_unique<McpHttpCore>(core_.config, *std::move(address), core_.loop, core_.timers, core_.clock);
  for (McpOutgoing& each : std::exchange(waiting_, {})) post(std::move(each));
}

void McpEventLink::on_exchange_end(McpExchange& exchange, std::optional<McpFault> fault) {
  if (&exchange == stream_.get()) return close(fault ? fault->message : "its stream ended");
  auto found = sent_.find(&exchange);
  if (found == sent_.end()) return;
  std::int64_t id = found->second.id;
  sent_.erase(found);
  if (fault && id != 0) observer_.on_failed(id, *std::move(fault));
}

void McpEventLink::close(std::string why) {
  cut();
  observer_.on_closed(std::move(why));
}

void McpEventLink::end(std::function<void()> done) {
  cut();
  core_.loop.post([done = std::move(done)] { done(); });
}

}  // namespace shepherd
