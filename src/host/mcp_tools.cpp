#include "host/mcp_tools.h"

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "base/log.h"
#include "client/find_server.h"
#include "config/agent_confinement.h"
#include "host/limits.h"
#include "host/version.h"
#include "process/confinement.h"

namespace shepherd {

Result<std::unique_ptr<McpToolbox>> open_mcp_tools(const Config& config, net::EventLoop& loop, const Clock& clock,
                                                   Random& random) {
  if (config.mcp_servers.empty()) return std::unique_ptr<McpToolbox>();
  McpParts parts{loop, clock, random, std::string(kVersion)};
  parts.confinement = agent_confinement(config, process_environment());
  // At level workspace a program could not change the files that it is there for.
  if (parts.confinement.level == ConfineLevel::workspace) parts.confinement.level = ConfineLevel::secrets;
  std::vector<McpServerConfig> servers;
  servers.reserve(config.mcp_servers.size());
  for (const auto& [name, server] : config.mcp_servers) servers.push_back(server);
  auto made = McpToolbox::make(std::move(parts), std::move(servers), config.chat.allow);
  if (made) loop.post([box = made->get()] { box->open(); });
  return made;
}

void end_mcp_tools(McpToolbox& tools, net::EventLoop& loop) {
  auto ended = std::make_shared<std::promise<void>>();
  auto waiting = ended->get_future();
  loop.post([&tools, ended] { tools.stop([ended] { ended->set_value(); }); });
  if (waiting.wait_for(kMcpStopWait) != std::future_status::ready) log_warn("mcp: a server did not end in time");
}

}  // namespace shepherd
