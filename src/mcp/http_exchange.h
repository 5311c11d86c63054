// One message to a server over HTTP and what comes back: nothing, a document, or a stream that is resumed until it has
// brought the answer. Also the stream on which a legacy server sends by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/framing.h"
#include "mcp/http_core.h"
#include "mcp/link.h"
#include "net/http_call.h"
#include "net/timers.h"

namespace shepherd {

class McpExchange;

// Called on the loop. It may cancel the exchange.
class McpExchangeOwner {
 public:
  virtual ~McpExchangeOwner() = default;
  virtual void on_exchange_message(McpMessage&& message) = 0;
  virtual void on_exchange_noise(std::size_t bytes) = 0;
  // An event that is no message: `endpoint` of the oldest servers.
  virtual void on_exchange_event(std::string_view /*name*/, std::string_view /*data*/) {}
  // The last call. No fault: it was answered, or needed no answer.
  virtual void on_exchange_end(McpExchange& exchange, std::optional<McpFault> fault) = 0;
};

// Threads: strand.
class McpExchange final : private net::CallObserver, public std::enable_shared_from_this<McpExchange> {
 public:
  enum class Kind : std::uint8_t {
    message,  // POST
    stream,   // GET, for as long as it lasts; resumed
    single,   // GET, never resumed
  };

  // `core` and `owner` outlive it, or cancel it.
  McpExchange(McpHttpCore& core, McpExchangeOwner& owner, Kind kind, McpOutgoing message);

  void start();
  void cancel();  // the owner is not called any more
  std::int64_t id() const { return message_.id; }
  const std::string& method() const { return message_.method; }
  Kind kind() const { return kind_; }

 private:
  void attempt();
  void send(const std::string& key);
  net::CallRequest post_request(const std::string& key) const;
  void on_head(net::ResponseHead&& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Result<void> result) override;
  bool take_event(const McpEvent& event);
  void take_document();
  void take_json(std::string_view json);
  void take_refusal();
  void take_end_of_stream();
  bool resumable() const;
  void fail(McpFault::Kind kind, std::string why);
  void finish(std::optional<McpFault> fault);

  McpHttpCore& core_;
  McpExchangeOwner* owner_;  // null after the end
  const Kind kind_;
  const McpOutgoing message_;
  int status_ = 0;
  bool is_stream_ = false, answered_ = false, rekeyed_ = false, resuming_ = false;
  bool had_session_ = false;
  std::string body_, location_;
  std::unique_ptr<McpEvents> events_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
  int resumes_ = 0;
  net::HttpCall call_;
  net::Timer pause_;
};

}  // namespace shepherd
