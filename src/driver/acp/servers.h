// MCP servers as the protocol lists them.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

struct AcpServers {
  std::string json = "[]";           // for `mcpServers`
  std::vector<std::string> refused;  // names of those that the agent cannot reach, with the reason
};

// `servers` is an object of servers by name, or has them under `mcpServers`; empty: none. Every agent starts programs;
// `http` and `sse`: it says that it reaches such servers, too.
AcpServers acp_servers(std::string_view servers, bool http, bool sse);

}  // namespace shepherd
