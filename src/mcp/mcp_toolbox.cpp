#include "mcp/mcp_toolbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "json/text.h"
#include "mcp/contents.h"
#include "mcp/limits.h"
#include "mcp/tool_names.h"

namespace shepherd {
Result<std::unique_ptr<McpToolbox>> McpToolbox::make(McpParts parts, std::vector<McpServerConfig> servers,
                                                     const std::vector<std::string>& allowed) {
  std::unique_ptr<McpToolbox> box(new McpToolbox(std::move(parts)));
  box->allowed_ = allowed;
  for (McpServerConfig& config : servers) {
    auto made = McpServer::make(box->parts_, box->timers_, std::move(config), [raw = box.get()] { raw->refresh(); });
    if (!made) return fail(std::move(made.error()));
    box->servers_.push_back(*std::move(made));
  }
  return box;
}

McpToolbox::McpToolbox(McpParts parts) : parts_(std::move(parts)), timers_(parts_.loop, {}) {}

McpToolbox::~McpToolbox() {
  servers_.clear();
}

void McpToolbox::open() {
  for (auto& server : servers_) server->open();
}

void McpToolbox::stop(std::function<void()> done) {
  auto left = std::make_shared<std::size_t>(servers_.size() + 1);
  auto one = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  for (auto& server : servers_) server->stop(one);
  parts_.loop.post([one] { one(); });
}

void McpToolbox::refresh() {
  tools_.clear();
  std::erase_if(places_, [](const auto& place) { return place.second.server->ready(); });
  for (const auto& server : servers_) {
    const McpServerConfig& config = server->config();
    bool asks = !config.trusted && std::find(allowed_.begin(), allowed_.end(), config.name) == allowed_.end();
    for (const McpTool& each : server->tools()) {
      Tool tool;
      tool.definition.name = tool_name_for_model(config.name, each.name);
      tool.definition.description = each.description;
      tool.definition.parameters = schema_for_model(each.schema);
      tool.source = config.name;
      tool.source_name = each.name;
      tool.asks = asks;
      places_[tool.definition.name] = {server.get(), each.name};
      tools_.push_back(std::move(tool));
    }
  }
  if (changed_) changed_();
}

std::vector<Tool> McpToolbox::tools() const {
  return tools_;
}

const McpToolbox::Place* McpToolbox::find(std::string_view name) const {
  auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}

std::unique_ptr<ToolRun> McpToolbox::start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                           std::function<void(std::string_view)> progress) {
  if (const Place* place = find(use.name)) {
    return place->server->start(place->tool, use.arguments, std::move(done), std::move(progress));
  }
  class Nothing final : public ToolRun {
   public:
    ~Nothing() override { *alive = false; }
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  };
  auto run = std::make_unique<Nothing>();
  parts_.loop.post([alive = run->alive, name = use.name, done = std::move(done)]() mutable {
    if (*alive) done(failed_tool(fmt::format("there is no tool \"{}\"", name)));
  });
  return run;
}

std::string McpToolbox::describe(std::string_view name, std::string_view arguments) const {
  const Place* place = find(name);
  if (place == nullptr) return fmt::format("Calls {}", name);
  std::string text;
  if (!append_compact_json(text, arguments)) text = arguments;
  for (char& c : text) {
    if (c >= 0 && c < 0x20) c = ' ';
  }
  return fmt::format("Calls {} of MCP server {} with {}", place->tool, place->server->config().name,
                     shortened(text, kMaxMcpShownArgumentBytes));
}

std::string McpToolbox::rule_of(std::string_view name, std::string_view) const {
  const Place* place = find(name);
  if (place == nullptr) return std::string(name);
  return fmt::format("{}({})", place->server->config().name, place->tool);
}

}  // namespace shepherd
