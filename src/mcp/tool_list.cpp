#include "mcp/tool_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/scan.h"
#include "json/text.h"
#include "mcp/limits.h"
#include "mcp/message.h"

namespace shepherd {
namespace {

// Why the tool cannot be used; empty: it can.
std::string read_tool(std::string_view json, bool over_http, McpTool& tool) {
  tool.name = text_member(json, "name");
  bool printable = std::none_of(tool.name.begin(), tool.name.end(), [](char c) { return c >= 0 && c < 0x20; });
  if (tool.name.empty() || tool.name.size() > kMaxMcpToolNameBytes || !printable) return "it has no usable name";
  std::string_view schema = find_member(json, "inputSchema");
  if (!schema.starts_with('{')) return "it has no schema for its arguments";
  if (schema.size() > kMaxMcpSchemaBytes) return fmt::format("its schema has more than {} bytes", kMaxMcpSchemaBytes);
  append_compact_json(tool.schema, schema);
  tool.description = text_member(json, "description");
  if (tool.description.empty()) tool.description = text_member(json, "title");
  tool.description = shortened(tool.description, kMaxMcpToolTextBytes);
  std::string_view execution = find_member(json, "execution");
  if (execution.starts_with('{') && text_member(execution, "taskSupport") == "required") {
    return "it runs only as a task, which is not supported";
  }
  if (!over_http) return {};
  auto headers = header_parameters(tool.schema);
  if (!headers) return std::move(headers.error().message);
  tool.headers = *std::move(headers);
  return {};
}

}  // namespace

McpToolPage read_tool_page(std::string_view result, bool over_http) {
  McpToolPage page;
  auto listed = array_elements(find_member(result, "tools"));
  for (std::string_view each : listed.value_or(std::vector<std::string_view>())) {
    if (page.tools.size() + page.dropped.size() >= kMaxMcpTools) break;
    McpTool tool;
    std::string why = each.starts_with('{') ? read_tool(each, over_http, tool) : "it is not an object";
    if (why.empty()) {
      page.tools.push_back(std::move(tool));
    } else {
      page.dropped.push_back(fmt::format("{}: {}", shortened(tool.name, kMaxMcpToolNameBytes), why));
    }
  }
  std::string_view cursor = find_member(result, "nextCursor");
  if (cursor.starts_with('"')) page.next_cursor = cursor;
  return page;
}

std::string schema_for_model(std::string_view schema) {
  std::string made = "{";
  bool typed = false;
  for (JsonMembers members(schema); members.next();) {
    if (members.key() == "$schema") continue;
    typed = typed || members.key() == "type";
    if (made.size() > 1) made += ',';
    made += fmt::format("\"{}\":{}", members.key(), members.value());
  }
  if (!typed) made += made.size() > 1 ? ",\"type\":\"object\"" : "\"type\":\"object\"";
  if (find_member(schema, "properties").empty()) made += ",\"properties\":{}";
  return made + "}";
}

}  // namespace shepherd
