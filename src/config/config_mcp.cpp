#include "config/config_mcp.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cstdint>
#include <map>
#include <vector>

#include "config/nearest_word.h"
#include "mcp/tool_names.h"

namespace shepherd {
namespace {

constexpr std::string_view kHiddenMcpValue = "(not shown)";

struct WrongMcp {
  std::string message;
};

std::string mcp_text(const YAML::Node& node, std::string_view name) {
  if (!node.IsScalar()) throw WrongMcp{fmt::format("\"{}\" must be a single value", name)};
  return node.Scalar();
}

void check_mcp_names(const YAML::Node& map) {
  static const std::vector<std::string> known{"command", "env",     "cwd", "url",   "key_file", "key_command",
                                              "key_env", "headers", "ca",  "tools", "trusted",  "timeout_seconds"};
  for (const auto& pair : map) {
    auto name = mcp_text(pair.first, "a name");
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string near = nearest_word(name, known);
    throw WrongMcp{fmt::format("an MCP server has no \"{}\"{}", name,
                               near.empty() ? fmt::format("; it has {}", fmt::join(known, ", "))
                                            : fmt::format("; did you mean \"{}\"?", near))};
  }
}

std::vector<std::string> mcp_texts(const YAML::Node& node, std::string_view name) {
  if (!node.IsSequence()) throw WrongMcp{fmt::format("\"{}\" must be a list: [A, B]", name)};
  std::vector<std::string> texts;
  for (const auto& each : node) texts.push_back(mcp_text(each, name));
  return texts;
}

std::map<std::string, std::string> mcp_table(const YAML::Node& node, std::string_view name) {
  if (!node.IsMap()) throw WrongMcp{fmt::format("\"{}\" must be names with values", name)};
  std::map<std::string, std::string> table;
  for (const auto& pair : node) {
    std::string key = mcp_text(pair.first, name);
    std::string value = mcp_text(pair.second, key);
    if (value == kHiddenMcpValue) {
      throw WrongMcp{fmt::format("the value of \"{}\" was hidden by \"shepherd config\"; put it in", key)};
    }
    bool whole = !key.empty() && (key + value).find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos;
    if (!whole) throw WrongMcp{fmt::format("\"{}\" has a name or a value with a line break", name)};
    table[key] = value;
  }
  return table;
}

std::int64_t mcp_seconds(const YAML::Node& node) {
  std::string text = mcp_text(node, "timeout_seconds");
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxMcpCallSeconds) {
    throw WrongMcp{fmt::format("\"timeout_seconds\" is a whole number from 1 to {}", kMaxMcpCallSeconds)};
  }
  return value;
}

bool mcp_flag(const YAML::Node& node, std::string_view name) {
  std::string text = mcp_text(node, name);
  if (text != "true" && text != "false") throw WrongMcp{fmt::format("\"{}\" is true or false", name)};
  return text == "true";
}

void check_program(const YAML::Node& node, const McpServerConfig& server) {
  if (server.command.empty() || server.command.front().empty()) {
    throw WrongMcp{"\"command\" is a program and its arguments: [mcp-server-time, --local-timezone, UTC]"};
  }
  for (const char* name : {"url", "key_file", "key_command", "key_env", "headers", "ca"}) {
    if (node[name])
      throw WrongMcp{fmt::format("it has \"command\" and \"{}\"; a server is a program or a service", name)};
  }
  for (const auto& [name, value] : server.environment) {
    if (name.find('=') != std::string::npos) throw WrongMcp{fmt::format("\"{}\" is no name for a variable", name)};
  }
}

void check_service(const YAML::Node& node, const McpServerConfig& server) {
  if (!server.url.starts_with("http://") && !server.url.starts_with("https://")) {
    throw WrongMcp{"\"url\" must be an http or https address, such as http://127.0.0.1:3001/mcp"};
  }
  for (const char* name : {"env", "cwd"}) {
    if (node[name]) throw WrongMcp{fmt::format("\"{}\" is for a program, and this server has a \"url\"", name)};
  }
  int keys =
      (server.key_file.empty() ? 0 : 1) + (server.key_command.empty() ? 0 : 1) + (server.key_env.empty() ? 0 : 1);
  if (keys > 1) throw WrongMcp{"it has more than one of \"key_file\", \"key_command\" and \"key_env\""};
}

McpServerConfig read_mcp(const std::string& name, const YAML::Node& node) {
  if (!is_server_name(name)) {
    throw WrongMcp{
        "its name must be up to 32 letters, digits, dashes and single underscores, with a letter or a digit "
        "at both ends"};
  }
  if (!node.IsMap())
    throw WrongMcp{"an MCP server is names with values: {command: [PROGRAM]} or {url: \"http://…/mcp\"}"};
  check_mcp_names(node);
  McpServerConfig server;
  server.name = name;
  auto text_into = [&](const char* key, std::string& into) {
    if (node[key]) into = mcp_text(node[key], key);
  };
  if (node["command"]) server.command = mcp_texts(node["command"], "command");
  if (node["env"]) server.environment = mcp_table(node["env"], "env");
  text_into("cwd", server.directory);
  text_into("url", server.url);
  text_into("key_file", server.key_file);
  text_into("key_command", server.key_command);
  text_into("key_env", server.key_env);
  text_into("ca", server.ca_file);
  if (node["headers"]) server.headers = mcp_table(node["headers"], "headers");
  if (node["tools"]) server.tools = mcp_texts(node["tools"], "tools");
  if (node["trusted"]) server.trusted = mcp_flag(node["trusted"], "trusted");
  if (node["timeout_seconds"]) server.timeout_seconds = mcp_seconds(node["timeout_seconds"]);
  if (node["command"]) {
    check_program(node, server);
  } else if (node["url"]) {
    check_service(node, server);
  } else {
    throw WrongMcp{"it needs a \"command\" or a \"url\""};
  }
  return server;
}

}  // namespace

Result<McpServerConfig> parse_mcp_entry(const std::string& name, const std::string& yaml) {
  try {
    return read_mcp(name, YAML::Load(yaml));
  } catch (const WrongMcp& error) {
    return fail(ErrorCode::invalid_argument, "bad_config", error.message);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::invalid_argument, "bad_config", fmt::format("not valid YAML: {}", error.msg));
  }
}

std::string mcp_entry_json(const McpServerConfig& server) {
  boost::json::object entry;
  auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) entry[key] = value;
  };
  auto texts = [&](std::string_view key, const std::vector<std::string>& values) {
    if (!values.empty()) entry[key] = boost::json::array(values.begin(), values.end());
  };
  auto hidden = [&](std::string_view key, const std::map<std::string, std::string>& values) {
    if (values.empty()) return;
    boost::json::object table;
    for (const auto& [name, value] : values) table[name] = kHiddenMcpValue;
    entry[key] = table;
  };
  texts("command", server.command);
  hidden("env", server.environment);
  text("cwd", server.directory);
  text("url", server.url);
  text("key_file", server.key_file);
  text("key_command", server.key_command);
  text("key_env", server.key_env);
  hidden("headers", server.headers);
  text("ca", server.ca_file);
  texts("tools", server.tools);
  if (server.trusted) entry["trusted"] = true;
  if (server.timeout_seconds != kMcpCallSeconds) entry["timeout_seconds"] = server.timeout_seconds;
  return boost::json::serialize(entry);
}

}  // namespace shepherd
