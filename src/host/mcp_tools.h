// The tools of the configured MCP servers, for chat sessions in this server.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "config/config.h"
#include "mcp/mcp_toolbox.h"
#include "net/event_loop.h"

namespace shepherd {

// Null if none is configured. The servers connect in the background; one that cannot is logged and tried again. Errors
// are those of the configuration. Programs are kept from Shepherd's own secrets, as agents are. The toolbox lives on
// the loop: it is destroyed there. Threads: any; not on the loop.
Result<std::unique_ptr<McpToolbox>> open_mcp_tools(const Config& config, net::EventLoop& loop, const Clock& clock,
                                                   Random& random);

// Ends all servers, in a bounded time. Threads: any; not on the loop, which must run.
void end_mcp_tools(McpToolbox& tools, net::EventLoop& loop);

}  // namespace shepherd
