// What the HTTP calls to one server share: its address, its key, its connections, its session.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "llm/model_key.h"
#include "mcp/mcp_config.h"
#include "net/http_call.h"
#include "net/timers.h"
#include "net/url.h"

namespace shepherd {

// Threads: strand.
struct McpHttpCore {
  // The loop, the timers and the clock outlive it.
  McpHttpCore(const McpServerConfig& given, net::Url address, net::EventLoop& given_loop, net::Timers& given_timers,
              const Clock& given_clock);

  net::CallRequest request(std::string_view method, const std::string& with_key) const;
  // Replaces the key and the configured headers' values, wherever a server repeats them.
  std::string hide(std::string text) const;

  const McpServerConfig config;
  const net::Url url;
  net::EventLoop& loop;
  net::Timers& timers;
  const Clock& clock;
  net::HttpCaller caller;
  ModelKey key;
  std::string version;  // of the protocol; empty: not agreed on yet
  std::string session;  // of a legacy server; empty: none
};

}  // namespace shepherd
