// Tools as servers describe them, and as a model sees them: names, schemas, headers, results.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "json/read.h"
#include "mcp/contents.h"
#include "mcp/header_values.h"
#include "mcp/limits.h"
#include "mcp/tool_list.h"
#include "mcp/tool_names.h"

namespace shepherd {
namespace {

// --- names ---

bool is_function_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

TEST(McpToolNames, AreWhatTheyAreWhereThatIsLegal) {
  EXPECT_EQ(tool_name_for_model("everything", "get-sum"), "everything__get-sum");
  EXPECT_EQ(tool_name_for_model("a", "_b"), "a___b");
}

TEST(McpToolNames, AreLegalAndDistinctAndStable) {
  std::string dotted = tool_name_for_model("s", "admin.tools.list");
  std::string scored = tool_name_for_model("s", "admin_tools_list");
  std::string accent = tool_name_for_model("s", "admin tools-list");
  EXPECT_EQ(dotted, "s__admin_tools_list_70b70ad5c6");
  EXPECT_EQ(scored, "s__admin_tools_list");
  EXPECT_NE(dotted, accent);
  std::string long_one = tool_name_for_model("s", std::string(128, 'x'));
  std::string longer = tool_name_for_model("s", std::string(128, 'x') + "y");
  EXPECT_EQ(long_one.size(), 64U);
  EXPECT_NE(long_one, longer);
  for (const std::string& name : {dotted, scored, accent, long_one, longer, tool_name_for_model("s", "日本")}) {
    EXPECT_TRUE(is_function_name(name)) << name;
  }
  EXPECT_EQ(tool_name_for_model("s", "admin.tools.list"), dotted);
}

TEST(McpToolNames, NeverMixTwoServersUp) {
  EXPECT_TRUE(is_server_name("a_b"));
  for (std::string_view name : {"", "a__b", "a_", "_a", "a.b", "-a", "ä", "12345678901234567890123456789012x"}) {
    EXPECT_FALSE(is_server_name(name)) << name;
  }
  EXPECT_NE(tool_name_for_model("a", "b__c"), tool_name_for_model("a-b", "c"));
  EXPECT_NE(tool_name_for_model("a", "b_c"), tool_name_for_model("a_b", "c"));
}

// --- lists ---

// As server-everything 2026.8.31 prints them.
constexpr std::string_view kEverythingTools =
    R"({"tools":[{"name":"echo","title":"Echo Tool","description":"Echoes back the input string","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"message":{"type":"string","description":"Message to echo"}},"required":["message"]},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"forbidden"}},{"name":"simulate-research-query","title":"Simulate Research Query","inputSchema":{"type":"object","properties":{}},"execution":{"taskSupport":"required"}}],"nextCursor":"b3Blbg=="})";

TEST(McpToolList, IsReadAsServersPrintIt) {
  McpToolPage page = read_tool_page(kEverythingTools, true);
  ASSERT_EQ(page.tools.size(), 1U);
  EXPECT_EQ(page.tools[0].name, "echo");
  EXPECT_EQ(page.tools[0].description, "Echoes back the input string");
  EXPECT_NE(page.tools[0].schema.find("draft-07"), std::string::npos);
  EXPECT_EQ(page.dropped,
            std::vector<std::string>{"simulate-research-query: it runs only as a task, which is not supported"});
  EXPECT_EQ(page.next_cursor, "\"b3Blbg==\"");
  EXPECT_EQ(
      schema_for_model(page.tools[0].schema),
      R"({"type":"object","properties":{"message":{"type":"string","description":"Message to echo"}},"required":["message"]})");
}

TEST(McpToolList, DropsWhatCannotBeUsed) {
  McpToolPage page = read_tool_page(
      R"({"tools":[3,{"name":""},{"name":"a"},{"name":"b","inputSchema":true},{"name":"c","inputSchema":{}},{"name":"d\u0007","inputSchema":{}}]})",
      false);
  ASSERT_EQ(page.tools.size(), 1U);
  EXPECT_EQ(page.tools[0].name, "c");
  EXPECT_EQ(page.dropped.size(), 5U);
  EXPECT_EQ(page.next_cursor, "");
  EXPECT_EQ(schema_for_model("{}"), R"({"type":"object","properties":{}})");
  EXPECT_TRUE(read_tool_page(R"({"tools":"none"})", false).tools.empty());
}

TEST(McpToolList, IsBounded) {
  std::string many = "{\"tools\":[";
  for (std::size_t i = 0; i < kMaxMcpTools + 50; ++i) {
    many += (i == 0 ? "{\"name\":\"t" : ",{\"name\":\"t") + std::to_string(i) + "\",\"inputSchema\":{}}";
  }
  EXPECT_EQ(read_tool_page(many + "]}", false).tools.size(), kMaxMcpTools);
  std::string large = R"({"tools":[{"name":"a","description":")" + std::string(kMaxMcpToolTextBytes * 2, 'x') +
                      R"(","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"description":")" +
                      std::string(kMaxMcpSchemaBytes, 'x') + R"("}}]})";
  McpToolPage page = read_tool_page(large, false);
  ASSERT_EQ(page.tools.size(), 1U);
  EXPECT_LE(page.tools[0].description.size(), kMaxMcpToolTextBytes + 3);
  EXPECT_EQ(page.dropped.size(), 1U);
}

// --- headers ---

std::string schema_with(std::string_view properties) {
  return "{\"type\":\"object\",\"properties\":{" + std::string(properties) + "}}";
}

TEST(McpHeaders, MirrorMarkedArguments) {
  auto found = header_parameters(schema_with(
      R"("region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"deep":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}},"query":{"type":"string"})"));
  ASSERT_TRUE(found);
  auto headers = headers_of(*found, R"({"query":"q","n":42.0,"region":"us-west1","deep":{"on":false}})");
  net::HeaderList wanted{{"Mcp-Param-Region", "us-west1"}, {"Mcp-Param-N", "42"}, {"Mcp-Param-On", "false"}};
  EXPECT_EQ(headers, wanted);
  EXPECT_EQ(headers_of(*found, R"({"region":null,"n":99999999999999999999,"deep":[]})"), net::HeaderList());
}

TEST(McpHeaders, EncodeWhatIsUnsafe) {
  EXPECT_EQ(header_value("us west 1"), "us west 1");
  EXPECT_EQ(header_value(""), "");
  EXPECT_EQ(header_value("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  EXPECT_EQ(header_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
  EXPECT_EQ(header_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  EXPECT_EQ(header_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST(McpHeaders, WithWrongMarksDropTheTool) {
  for (std::string_view wrong :
       {R"("a":{"type":"string","x-mcp-header":""})", R"("a":{"type":"string","x-mcp-header":"My Region"})",
        R"("a":{"type":"object","x-mcp-header":"Data"})", R"("a":{"type":"number","x-mcp-header":"N"})",
        R"("a":{"type":"string","x-mcp-header":"Name"},"b":{"type":"string","x-mcp-header":"NAME"})",
        R"("a":{"type":"array","items":{"type":"string","x-mcp-header":"Item"}})",
        R"("a":{"anyOf":[{"type":"string","x-mcp-header":"Any"}]})", R"("a":{"type":"string","x-mcp-header":5})"}) {
    EXPECT_FALSE(header_parameters(schema_with(wrong))) << wrong;
  }
  std::string list = R"({"tools":[{"name":"wrong","inputSchema":)" +
                     schema_with(R"("a":{"type":"string","x-mcp-header":"A:B"})") +
                     R"(},{"name":"right","inputSchema":{"type":"object"}}]})";
  EXPECT_EQ(read_tool_page(list, true).tools.size(), 1U);
  EXPECT_EQ(read_tool_page(list, false).tools.size(), 2U);
  // A property may have this name.
  EXPECT_TRUE(header_parameters(schema_with(R"("x-mcp-header":{"type":"string"})")));
}

// --- results ---

TEST(McpContents, AreTextAndImagesForTheModel) {
  // As server-everything prints them.
  ToolOutcome outcome = outcome_of(
      R"({"content":[{"type":"text","text":"Here's the image you requested:"},{"type":"image","data":"iVBORw0KGgoA","mimeType":"image/png"},{"type":"text","text":"The image above is the MCP logo."}]})");
  EXPECT_TRUE(outcome.success);
  EXPECT_EQ(outcome.content,
            "Here's the image you requested:\n[image, image/png, 9 bytes]\nThe image above is the MCP logo.");
  ASSERT_EQ(outcome.images.size(), 1U);
  EXPECT_EQ(outcome.images[0].mime_type, "image/png");
  EXPECT_EQ(outcome.images[0].base64, "iVBORw0KGgoA");
}

TEST(McpContents, NameWhatAModelCannotTake) {
  ToolOutcome outcome = outcome_of(
      R"({"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"},{"name":"Blob Resource 1","uri":"demo://resource/dynamic/blob/1","mimeType":"text/plain","type":"resource_link"},{"type":"resource","resource":{"uri":"demo://resource/dynamic/text/1","mimeType":"text/plain","text":"Resource 1"}},{"type":"resource","resource":{"uri":"demo://b","mimeType":"application/zip","blob":"AAAA"}},{"type":"hologram"},7]})");
  EXPECT_EQ(
      outcome.content,
      "[audio, audio/wav, 3 bytes: not shown]\n[resource Blob Resource 1: demo://resource/dynamic/blob/1, text/plain]\n"
      "[resource demo://resource/dynamic/text/1]\nResource 1\n[resource demo://b, application/zip, 3 bytes: not "
      "shown]\n"
      "[content of type \"hologram\": not shown]");
}

TEST(McpContents, AreStructuredOnlyWithoutText) {
  EXPECT_EQ(outcome_of(R"({"content":[{"type":"text","text":"{\"t\":36}"}],"structuredContent":{"t":36}})").content,
            "{\"t\":36}");
  EXPECT_EQ(outcome_of(R"({"content":[],"structuredContent":{"t":36}})").content, "{\"t\":36}");
  EXPECT_EQ(outcome_of("{}").content, "");
  EXPECT_TRUE(outcome_of("{}").success);
}

TEST(McpContents, OfAFailureSaySo) {
  // An unknown tool, as the TypeScript SDK reports it.
  ToolOutcome outcome =
      outcome_of(R"({"content":[{"type":"text","text":"MCP error -32602: Tool nothing not found"}],"isError":true})");
  EXPECT_FALSE(outcome.success);
  EXPECT_EQ(outcome.content, "Error: MCP error -32602: Tool nothing not found");
  EXPECT_EQ(outcome_of(R"({"content":[],"isError":true})").content, "Error: the tool failed and gave no reason");
  EXPECT_EQ(failed_tool("Error: once").content, "Error: once");
}

TEST(McpContents, AreBounded) {
  std::string text(kMaxMcpResultBytes, 'x');
  ToolOutcome outcome =
      outcome_of(R"({"content":[{"type":"text","text":")" + text + text + R"("},{"type":"text","text":"more"}]})");
  EXPECT_LT(outcome.content.size(), kMaxMcpResultBytes + 100);
  EXPECT_NE(outcome.content.find("[The rest of this result was cut.]"), std::string::npos);
  std::string images = "{\"content\":[";
  for (std::size_t i = 0; i < kMaxMcpImages + 3; ++i) {
    images += std::string(i == 0 ? "" : ",") + R"({"type":"image","data":"AAAA","mimeType":"image/png"})";
  }
  EXPECT_EQ(outcome_of(images + "]}").images.size(), kMaxMcpImages);
  EXPECT_TRUE(
      outcome_of(R"({"content":[{"type":"image","data":"not base64!","mimeType":"image/png"}]})").images.empty());
  EXPECT_TRUE(outcome_of(R"({"content":[{"type":"image","data":"AAAA","mimeType":"image/svg+xml"}]})").images.empty())
      << "backends refuse the conversation for it";
  EXPECT_TRUE(outcome_of(R"({"content":[{"type":"image","mimeType":"image/png","data":")" +
                         std::string(kMaxMcpOneImageBytes / 4 * 4 + 4, 'A') + R"("}]})")
                  .images.empty());
}

}  // namespace
}  // namespace shepherd
