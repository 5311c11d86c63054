#include "tools/built_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/built_in_tool.h"
#include "tools/fetch_url.h"
#include "tools/file_root.h"
#include "tools/file_tools.h"
#include "tools/run_command.h"
#include "tools/search_sessions.h"

namespace shepherd {
namespace {

class BuiltInToolbox final : public Toolbox {
 public:
  BuiltInToolbox(Executor& loop, std::vector<std::unique_ptr<BuiltInTool>> tools)
      : loop_(loop), tools_(std::move(tools)) {}

  std::vector<Tool> tools() const override {
    std::vector<Tool> all;
    all.reserve(tools_.size());
    for (const auto& each : tools_) all.push_back(each->tool());
    return all;
  }
  void on_change(std::function<void()> /*changed*/) override {}  // they never change

  std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)> progress) override {
    ToolAnswer answer{std::move(done), std::move(progress)};
    BuiltInTool* tool = find(use.name);
    if (tool == nullptr) {
      return answer_later(loop_, failed_outcome(fmt::format("there is no tool \"{}\".", use.name)), std::move(answer));
    }
    Arguments arguments(use.arguments);
    if (!arguments.is_object()) {
      return answer_later(loop_, failed_outcome("the arguments are not a JSON object, or have the same name twice."),
                          std::move(answer));
    }
    return tool->start(use, arguments, std::move(answer));
  }
  std::string describe(std::string_view name, std::string_view arguments) const override {
    const BuiltInTool* tool = find(name);
    Arguments given(arguments);
    return tool == nullptr || !given.is_object() ? "Calls " + std::string(name) : tool->describe(given);
  }
  std::string rule_of(std::string_view name, std::string_view arguments) const override {
    const BuiltInTool* tool = find(name);
    return tool == nullptr ? std::string(name.empty() ? "unknown" : name) : tool->rule(Arguments(arguments));
  }

 private:
  BuiltInTool* find(std::string_view name) const {
    for (const auto& each : tools_) {
      if (each->tool().definition.name == name) return each.get();
    }
    return nullptr;
  }

  Executor& loop_;
  std::vector<std::unique_ptr<BuiltInTool>> tools_;
};

Result<void> check_names(const std::vector<std::string>& names) {
  const std::vector<std::string> known = ToolSettings().names;
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return fail(ErrorCode::invalid_argument, "bad_config",
                fmt::format("chat.tools: there is no tool \"{}\"; there are {}", name, fmt::join(known, ", ")));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Toolbox>> open_built_in_tools(const ToolSettings& settings, BuiltInParts parts) {
  if (Result<void> right = check_names(settings.names); !right) return fail(right.error());
  auto wanted = [&](std::string_view name) { return std::ranges::find(settings.names, name) != settings.names.end(); };
  std::vector<std::unique_ptr<BuiltInTool>> tools;
  if (!settings.root.empty()) {
    auto opened = FileRoot::open({settings.root, parts.confinement.hidden});
    if (!opened) return fail(opened.error());
    auto root = std::make_shared<const FileRoot>(*std::move(opened));
    FileToolParts files{root, parts.loop, parts.blocking};
    if (wanted("list_files")) tools.push_back(make_list_files(files));
    if (wanted("read_file")) tools.push_back(make_read_file(files));
    if (wanted("write_file")) tools.push_back(make_write_file(files));
    if (wanted("edit_file")) tools.push_back(make_edit_file(files));
    if (wanted("run_command")) {
      tools.push_back(make_run_command({parts.loop, parts.blocking, parts.clock, root->directory(),
                                        std::move(parts.environment), std::move(parts.confinement),
                                        std::move(parts.warden_program), settings.max_command_seconds}));
    }
  }
  if (wanted("fetch_url")) tools.push_back(make_fetch_url({parts.loop, parts.blocking, settings.fetch_private}));
  if (wanted("search_sessions") && parts.search) {
    tools.push_back(make_search_sessions(std::move(parts.search), parts.loop, parts.blocking));
  }
  return std::make_unique<BuiltInToolbox>(parts.loop, std::move(tools));
}

}  // namespace shepherd
