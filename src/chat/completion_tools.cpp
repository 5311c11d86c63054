#include "chat/completion_tools.h"

#include <algorithm>

#include "chat/limits.h"
#include "json/read.h"

namespace shepherd {
namespace {

constexpr std::string_view kServersPrefix = "server_";

bool is_listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool usable_unasked(const Tool& tool, const std::vector<std::string>& allow) {
  if (!tool.asks) return true;
  const std::string& name = tool.definition.name;
  return std::any_of(allow.begin(), allow.end(),
                     [&](const std::string& rule) { return rule == name || rule.starts_with(name + "("); });
}

CompletionTools::CompletionTools(Toolbox& box, const std::vector<std::string>& allow,
                                 const std::vector<ToolDefinition>& clients)
    : box_(box), allow_(allow) {
  for (const ToolDefinition& tool : clients) clients_.push_back(tool.name);
  for (const Tool& tool : box.tools()) {
    if (!usable_unasked(tool, allow)) continue;
    std::string shown = tool.definition.name;
    while (is_clients(shown) && shown.size() + kServersPrefix.size() <= kMaxShownToolNameBytes) {
      shown.insert(0, kServersPrefix);
    }
    if (is_clients(shown) || find(shown) != nullptr) continue;  // no name is left for it
    entries_.push_back({shown, tool.definition.name, tool.asks});
    definitions_.push_back({shown, tool.definition.description, tool.definition.parameters});
  }
}

bool CompletionTools::is_clients(std::string_view name) const {
  return is_listed(clients_, name);
}

const CompletionTools::Entry* CompletionTools::find(std::string_view shown) const {
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.shown == shown; });
  return found == entries_.end() ? nullptr : &*found;
}

std::string CompletionTools::refusal(const ToolRequest& call) const {
  const Entry* entry = find(call.name);
  if (entry == nullptr) return "Error: there is no tool \"" + call.name + "\".";
  JsonParser parser(call.arguments.size());
  auto parsed = parser.parse(call.arguments);
  if (!parsed || !parsed->is_object()) return "Error: the arguments are not a JSON object.";
  if (!entry->asks || is_listed(allow_, entry->own)) return {};
  std::string rule = box_.rule_of(entry->own, call.arguments);
  if (is_listed(allow_, rule)) return {};
  return "Error: this call needs the approval of a person, and a stateless call has none to ask. chat.allow does not "
         "have \"" +
         rule + "\".";
}

ToolRequest CompletionTools::own(const ToolRequest& call) const {
  const Entry* entry = find(call.name);
  return {call.id, entry == nullptr ? call.name : entry->own, call.arguments};
}

std::string CompletionTools::describe(const ToolRequest& call) const {
  return box_.describe(own(call).name, call.arguments);
}

}  // namespace shepherd
