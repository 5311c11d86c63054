// Reads any bytes, cut anywhere, as what an MCP server sends: lines and events, messages, lists of tools, results.
// Lines and events do not depend on the cuts, and what a model gets is bounded and legal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "given.h"
#include "json/read.h"
#include "mcp/contents.h"
#include "mcp/framing.h"
#include "mcp/header_values.h"
#include "mcp/limits.h"
#include "mcp/message.h"
#include "mcp/tool_list.h"
#include "mcp/tool_names.h"

namespace {

using namespace shepherd;

std::vector<std::string> lines_of(std::string_view bytes, const std::vector<std::uint8_t>& cuts) {
  std::vector<std::string> lines;
  McpLines reader(kMaxMcpMessageBytes);
  in_pieces(bytes, cuts, [&](std::string_view piece) {
    reader.cut(piece, [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
  });
  return lines;
}

std::vector<std::string> events_of(std::string_view bytes, const std::vector<std::uint8_t>& cuts) {
  std::vector<std::string> events;
  McpEvents reader;
  in_pieces(bytes, cuts, [&](std::string_view piece) {
    reader.cut(piece, [&](const McpEvent& event) {
      events.push_back(std::string(event.name) + '\n' + std::string(event.data) + '\n' + reader.last_id());
      return true;
    });
  });
  return events;
}

void check_json(std::string_view json) {
  JsonParser parser(json.size());
  SHEPHERD_ASSERT(parser.parse(json).has_value(), "what was made of JSON is JSON");
}

void read_all(std::string_view text) {
  auto message = read_message(text);
  if (!message) return;
  message->answers();
  if (!message->body.empty()) check_json(message->body);
  McpToolPage page = read_tool_page(message->body, true);
  SHEPHERD_ASSERT(page.tools.size() + page.dropped.size() <= kMaxMcpTools, "a list is bounded");
  for (const McpTool& tool : page.tools) {
    check_json(schema_for_model(tool.schema));
    for (const auto& [name, value] : headers_of(tool.headers, message->body)) {
      for (char c : name + value) SHEPHERD_ASSERT(c >= 0x20 && c < 0x7F, "a header is plain text");
    }
    std::string name = tool_name_for_model("server", tool.name);
    SHEPHERD_ASSERT(!name.empty() && name.size() <= 64, "a name is legal");
  }
  ToolOutcome outcome = outcome_of(message->body);
  SHEPHERD_ASSERT(outcome.content.size() < kMaxMcpResultBytes + 1'000, "a result is bounded");
  SHEPHERD_ASSERT(outcome.images.size() <= kMaxMcpImages, "images are bounded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  std::vector<std::string> lines = lines_of(input.bytes, {});
  SHEPHERD_ASSERT(lines_of(input.bytes, input.cuts) == lines, "lines do not depend on how their bytes were cut");
  std::vector<std::string> events = events_of(input.bytes, {});
  SHEPHERD_ASSERT(events_of(input.bytes, input.cuts) == events, "events do not depend on how their bytes were cut");
  for (const std::string& line : lines) read_all(line);
  for (const std::string& event : events) read_all(event);
  read_all(input.bytes);
  return 0;
}
