#include "harness/model/model_reply.h"

#include <algorithm>
#include <array>

namespace shepherd::harness {
namespace json = boost::json;
namespace {

// The shells of known agents by name; the first one that is offered is used.
constexpr std::array<std::string_view, 8> kShells{
    "Bash", "bash", "shell", "exec_command", "run_shell_command", "developer__shell", "execute_command", "terminal"};
// What their input calls the command.
constexpr std::array<std::string_view, 3> kCommands{"command", "cmd", "script"};

const json::object* properties_of(const OfferedTool& tool) {
  const json::value* found = tool.parameters.if_contains("properties");
  return found == nullptr ? nullptr : found->if_object();
}

std::string type_of(const json::object& properties, std::string_view name) {
  const json::value* property = properties.if_contains(name);
  const json::object* object = property == nullptr ? nullptr : property->if_object();
  const json::value* type = object == nullptr ? nullptr : object->if_contains("type");
  return type != nullptr && type->is_string() ? std::string(type->get_string()) : std::string();
}

bool is_required(const OfferedTool& tool, std::string_view name) {
  const json::value* found = tool.parameters.if_contains("required");
  const json::array* required = found == nullptr ? nullptr : found->if_array();
  return required != nullptr &&
         std::ranges::any_of(*required, [&](const json::value& each) { return each == json::string(name); });
}

// Fills in the command and what else the tool demands. nullopt if it is not a shell.
std::optional<json::object> input_of(const OfferedTool& tool, const std::string& command) {
  const json::object* properties = properties_of(tool);
  if (properties == nullptr) return {};
  for (std::string_view name : kCommands) {
    if (!properties->contains(name)) continue;
    json::object input;
    if (type_of(*properties, name) == "array") {
      input[name] = json::array{"sh", "-c", command};
    } else {
      input[name] = command;
    }
    if (is_required(tool, "description")) input["description"] = "Runs the command of the check";
    return input;
  }
  return {};
}

std::optional<ShellCall> shell_call(const std::vector<OfferedTool>& tools, const std::string& command) {
  for (std::string_view name : kShells) {
    auto found = std::ranges::find(tools, name, &OfferedTool::name);
    if (found == tools.end()) continue;
    if (auto input = input_of(*found, command)) return ShellCall{found->name, *std::move(input)};
  }
  return {};
}

}  // namespace

std::string command_in(std::string_view prompt) {
  std::size_t end = prompt.rfind('`');
  if (end == std::string_view::npos || end == 0) return {};
  std::size_t begin = prompt.rfind('`', end - 1);
  return begin == std::string_view::npos ? std::string() : std::string(prompt.substr(begin + 1, end - begin - 1));
}

ModelReply reply_to(const ModelRequest& request) {
  std::string command = request.has_result ? std::string() : command_in(request.prompt);
  ModelReply reply;
  if (!command.empty()) reply.call = shell_call(request.tools, command);
  if (!reply.call) reply.words = "ready";
  return reply;
}

}  // namespace shepherd::harness
