// What the modern version repeats in HTTP headers: the method, a tool's name, and arguments that a tool's schema marks
// with `x-mcp-header`.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/call_options.h"

namespace shepherd {

// An argument that goes into the header Mcp-Param-NAME.
struct McpHeaderParameter {
  std::vector<std::string> path;  // property names from the arguments' root
  std::string header;             // begins with Mcp-Param-
};

// The marked parameters of a tool. invalid_argument/bad_header_mark if a mark is wrong: such a tool must not be used
// over HTTP.
Result<std::vector<McpHeaderParameter>> header_parameters(std::string_view schema);

// The headers of one call. An absent or null argument has none.
net::HeaderList headers_of(const std::vector<McpHeaderParameter>& parameters, std::string_view arguments);

// The text as it stands if it is safe in a header, and otherwise in base64.
std::string header_value(std::string_view text);

}  // namespace shepherd
