// The tools that a server lists, as it describes them.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcp/header_values.h"

namespace shepherd {

struct McpTool {
  std::string name;         // the server's own
  std::string description;  // bounded
  std::string schema;       // of its arguments, as the server sent it: a JSON object
  std::vector<McpHeaderParameter> headers;
};

// One page of a list.
struct McpToolPage {
  std::vector<McpTool> tools;
  std::vector<std::string> dropped;  // one line for each tool that cannot be used: "name: why"
  std::string next_cursor;           // JSON; empty: the last page
};

// `over_http`: tools whose header marks are wrong are dropped, as the protocol has it.
McpToolPage read_tool_page(std::string_view result, bool over_http);

// The schema for a model: without `$schema`, which some backends refuse, and never without a type.
std::string schema_for_model(std::string_view schema);

}  // namespace shepherd
