// Names under which a model sees the tools of MCP servers: SERVER__TOOL, in the alphabet of function names.
//
// A server's name has no two underscores side by side and none at its end, so the first "__" ends it, and two servers
// never share a name. A name that is too long or has other characters gets a hash of both names at its end, so it is
// the same after every start, whatever other tools there are. Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// [A-Za-z0-9_-]{1,64}.
std::string tool_name_for_model(std::string_view server, std::string_view tool);

// Letters, digits, dashes and single underscores, at most 32; not at the ends.
bool is_server_name(std::string_view name);

}  // namespace shepherd
