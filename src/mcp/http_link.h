// A server behind an address: streamable HTTP, in the versions since 2025-03-26.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "mcp/http_core.h"
#include "mcp/http_exchange.h"
#include "mcp/link.h"
#include "net/whole_answer.h"

namespace shepherd {

// Each message is a request of its own, and its answer comes there. It is never closed from the other side: a server
// that is away fails requests. Threads: strand.
class McpHttpLink final : public McpLink, private McpExchangeOwner {
 public:
  // `core` outlives it.
  McpHttpLink(McpHttpCore& core, McpLinkObserver& observer);
  ~McpHttpLink() override;

  void send(McpOutgoing message) override;
  void drop(std::int64_t id) override;
  void speak(std::string_view version) override;
  void listen() override;
  bool over_http() const override { return true; }
  void end(std::function<void()> done) override;

 private:
  void on_exchange_message(McpMessage&& message) override;
  void on_exchange_noise(std::size_t bytes) override { observer_.on_noise(bytes); }
  void on_exchange_end(McpExchange& exchange, std::optional<McpFault> fault) override;
  void stream_ended(const std::optional<McpFault>& fault);
  void cut();

  McpHttpCore& core_;
  McpLinkObserver& observer_;
  std::map<std::int64_t, std::shared_ptr<McpExchange>> requests_;
  std::map<McpExchange*, std::shared_ptr<McpExchange>> notices_;  // notifications and answers; kMaxMcpReplies
  std::shared_ptr<McpExchange> stream_;
  std::chrono::milliseconds stream_pause_;
  net::Timer stream_again_;
  std::unique_ptr<net::WholeAnswer> farewell_;
  net::HttpCall farewell_call_;
};

}  // namespace shepherd
