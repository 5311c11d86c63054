// The settings of the built-in tools (chat.tools and the keys beside it). Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/limits.h"

namespace shepherd {

struct ToolSettings {
  // Names of tools to offer. By default all; those that change something ask a person each time.
  std::vector<std::string> names = {"list_files",  "read_file", "write_file",     "edit_file",
                                    "run_command", "fetch_url", "search_sessions"};
  std::string root;            // directory of files and commands; empty: the tools that need one are not offered
  bool fetch_private = false;  // fetch_url may call addresses of this machine and its networks
  std::int64_t max_command_seconds = kMaxCommandSeconds;
};

}  // namespace shepherd
