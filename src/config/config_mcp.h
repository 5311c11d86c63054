// The `mcp_servers` section of the configuration: MCP servers under user-defined names.
//
//   mcp_servers:
//     files: {command: [mcp-server-filesystem, /srv/notes], tools: [read_file], trusted: true}
//     wiki:  {url: "https://wiki.example/mcp", key_env: WIKI_TOKEN, timeout_seconds: 120}
//
// An error describes the problem in the entry; the caller adds its place.
// Threads: value.
#pragma once

#include <string>

#include "base/result.h"
#include "mcp/mcp_config.h"

namespace shepherd {

// `yaml` is the entry itself.
Result<McpServerConfig> parse_mcp_entry(const std::string& name, const std::string& yaml);

// The entry as JSON, which is also YAML. Values of headers and of the environment are hidden, and their placeholders
// cannot be read back.
std::string mcp_entry_json(const McpServerConfig& server);

}  // namespace shepherd
