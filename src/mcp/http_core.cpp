#include "mcp/http_core.h"

#include <fmt/format.h>

#include <utility>

#include "llm/limits.h"

namespace shepherd {
namespace {

net::CallerOptions mcp_caller(const McpServerConfig& config) {
  net::CallerOptions options;
  options.tls.ca_file = config.ca_file;
  return options;
}

void hide_all(std::string& text, std::string_view secret) {
  constexpr std::string_view kHiddenText = "(hidden)";
  if (secret.size() < kMinHiddenBytes) return;
  for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kHiddenText.size())) {
    text.replace(at, secret.size(), kHiddenText);
  }
}

}  // namespace

McpHttpCore::McpHttpCore(const McpServerConfig& given, net::Url address, net::EventLoop& given_loop,
                         net::Timers& given_timers, const Clock& given_clock)
    : config(given),
      url(std::move(address)),
      loop(given_loop),
      timers(given_timers),
      clock(given_clock),
      caller(given_loop, mcp_caller(given)),
      key({fmt::format("MCP server \"{}\"", given.name), given.key_file, given.key_command, given.key_env}, given_loop,
          given_clock) {}

net::CallRequest McpHttpCore::request(std::string_view method, const std::string& with_key) const {
  net::CallRequest made;
  made.method = method;
  made.url = url;
  made.headers.emplace_back("User-Agent", "shepherd");
  if (!with_key.empty()) made.headers.emplace_back("Authorization", "Bearer " + with_key);
  for (const auto& [name, value] : config.headers) made.headers.emplace_back(name, value);
  if (!version.empty()) made.headers.emplace_back("MCP-Protocol-Version", version);
  if (!session.empty()) made.headers.emplace_back("Mcp-Session-Id", session);
  // The request above it knows how long to wait.
  made.timeouts.first_byte = made.timeouts.idle = std::chrono::milliseconds(0);
  return made;
}

std::string McpHttpCore::hide(std::string text) const {
  hide_all(text, key.last());
  for (const auto& [name, value] : config.headers) hide_all(text, value);
  return text;
}

}  // namespace shepherd
