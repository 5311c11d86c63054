// The connection to one MCP server: messages go out and come in. Stdio and HTTP are implementations; they know messages
// and not what they mean.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "mcp/message.h"
#include "net/call_options.h"

namespace shepherd {

inline constexpr std::string_view kMcpModern = "2026-07-28";
inline constexpr std::string_view kMcpLegacy = "2025-11-25";

// One message to a server. Threads: value.
struct McpOutgoing {
  std::int64_t id = 0;      // of a request; 0: it is a notification or an answer
  std::string method;       // empty: an answer
  std::string tool;         // of tools/call
  net::HeaderList headers;  // of a tool's arguments
  std::string text;         // the message, in one line
};

// Why a request will get no answer. Threads: value.
struct McpFault {
  enum class Kind : std::uint8_t {
    unreachable,   // nothing was answered
    refused,       // answered by an HTTP status that is an error
    session_lost,  // the server does not know the session any more, and has done nothing
    broke_off,     // the answer's stream ended
  };
  Kind kind = Kind::unreachable;
  int status = 0;
  std::string message;  // for a person
};

// Called on the loop, never inside a call of the link. It must not destroy the link meanwhile.
class McpLinkObserver {
 public:
  virtual ~McpLinkObserver() = default;
  virtual void on_message(McpMessage&& message) = 0;
  virtual void on_noise(std::size_t bytes) = 0;  // what was no message, and was skipped
  virtual void on_failed(std::int64_t id, McpFault fault) = 0;
  virtual void on_closed(std::string why) = 0;  // the last call; for a person
};

// Destroying it cuts the connection at once; the processes of a program are ended then.
// Threads: strand.
class McpLink {
 public:
  McpLink() = default;
  virtual ~McpLink() = default;
  McpLink(const McpLink&) = delete;
  McpLink& operator=(const McpLink&) = delete;

  virtual void send(McpOutgoing message) = 0;
  // The answer is not wanted any more.
  virtual void drop(std::int64_t id) = 0;
  // The version that headers name from now on; empty: none is agreed on yet.
  virtual void speak(std::string_view version) = 0;
  // Opens the stream on which a legacy server sends by itself, where there is one.
  virtual void listen() {}
  virtual bool over_http() const = 0;
  // Bytes wait because the server does not read.
  virtual bool stuck() const { return false; }
  // Says goodbye, in a bounded time; `done` is called once. Nothing else is called any more.
  virtual void end(std::function<void()> done) = 0;
};

}  // namespace shepherd
