// A server of the oldest version over HTTP (2024-11-05): one event stream brings everything, and its first event names
// the address for what is sent.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "mcp/http_core.h"
#include "mcp/http_exchange.h"
#include "mcp/link.h"

namespace shepherd {

// Closed with its stream. Threads: strand.
class McpEventLink final : public McpLink, private McpExchangeOwner {
 public:
  // `core` outlives it.
  McpEventLink(McpHttpCore& core, McpLinkObserver& observer);
  ~McpEventLink() override;

  void send(McpOutgoing message) override;
  void drop(std::int64_t) override {}
  void speak(std::string_view version) override { core_.version = version; }
  bool over_http() const override { return true; }
  void end(std::function<void()> done) override;

 private:
  void on_exchange_message(McpMessage&& message) override { observer_.on_message(std::move(message)); }
  void on_exchange_noise(std::size_t bytes) override { observer_.on_noise(bytes); }
  void on_exchange_event(std::string_view name, std::string_view data) override;
  void on_exchange_end(McpExchange& exchange, std::optional<McpFault> fault) override;
  void post(McpOutgoing message);
  void close(std::string why);
  void cut();

  McpHttpCore& core_;
  McpLinkObserver& observer_;
  std::shared_ptr<McpExchange> stream_;  // null after the end
  std::unique_ptr<McpHttpCore> posts_;   // the same server at the address for what is sent; null until that is known
  std::deque<McpOutgoing> waiting_;      // for the address; at most kMaxMcpRequests
  struct Sent {
    std::shared_ptr<McpExchange> exchange;
    std::int64_t id = 0;
  };
  std::map<McpExchange*, Sent> sent_;
};

// The address that an `endpoint` event names: the same server's. nullopt if it is another's.
std::optional<net::Url> endpoint_of(const net::Url& base, std::string_view named);

}  // namespace shepherd
