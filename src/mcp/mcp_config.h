// The configuration of one MCP server: how it is reached, and which of its tools are used.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mcp/limits.h"

namespace shepherd {

struct McpServerConfig {
  std::string name;  // chosen by the user: letters, digits, dashes and single underscores

  // A program that speaks over its standard streams …
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // in addition to PATH, HOME and a few more
  std::string directory;                           // where it works; empty: the home directory
  // … or a service.
  std::string url;
  std::string key_file, key_command, key_env;  // at most one; sent as "Authorization: Bearer"
  std::map<std::string, std::string> headers;
  std::string ca_file;  // for TLS; empty: the system's

  std::vector<std::string> tools;  // those to use, by the server's own names; empty: all
  bool trusted = false;            // its tools need no approval
  std::int64_t timeout_seconds = kMcpCallSeconds;
};

}  // namespace shepherd
