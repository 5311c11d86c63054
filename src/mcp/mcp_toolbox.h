// The tools of all configured MCP servers as one toolbox.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/server.h"
#include "tools/toolbox.h"

namespace shepherd {

// A tool is called SERVER__TOOL (mcp/tool_names.h). It needs approval unless its server is trusted, or `allowed` has
// the server's name; an approval is remembered as SERVER(TOOL). Threads: strand; any may construct it.
class McpToolbox final : public Toolbox {
 public:
  // Errors are those of McpServer::make().
  static Result<std::unique_ptr<McpToolbox>> make(McpParts parts, std::vector<McpServerConfig> servers,
                                                  const std::vector<std::string>& allowed);
  ~McpToolbox() override;

  void open();  // connects all servers
  // Ends all servers in a bounded time. `done` is called once.
  void stop(std::function<void()> done);
  const std::vector<std::unique_ptr<McpServer>>& servers() const { return servers_; }

  std::vector<Tool> tools() const override;
  void on_change(std::function<void()> changed) override { changed_ = std::move(changed); }
  std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)> progress) override;
  std::string describe(std::string_view name, std::string_view arguments) const override;
  std::string rule_of(std::string_view name, std::string_view arguments) const override;

 private:
  struct Place {
    McpServer* server = nullptr;
    std::string tool;
  };

  explicit McpToolbox(McpParts parts);
  void refresh();
  const Place* find(std::string_view name) const;

  const McpParts parts_;
  net::Timers timers_;
  std::vector<std::string> allowed_;
  std::function<void()> changed_;
  std::vector<std::unique_ptr<McpServer>> servers_;
  std::vector<Tool> tools_;
  std::map<std::string, Place, std::less<>> places_;  // also of tools that are away, so that calls say why
};

}  // namespace shepherd
