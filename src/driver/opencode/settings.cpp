#include "driver/opencode/settings.h"

#include <algorithm>
#include <map>

#include "json/scan.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::string_view kProgram = "opencode";

// "bash(git *)" as a tool and its pattern; "bash" has the pattern "*".
struct AllowedUse {
  std::string tool, pattern;
};

AllowedUse allowed_use(std::string_view rule) {
  std::size_t open = rule.find('(');
  if (open == std::string_view::npos || !rule.ends_with(')')) return {std::string(rule), "*"};
  return {std::string(rule.substr(0, open)), std::string(rule.substr(open + 1, rule.size() - open - 2))};
}

// Of a list nothing else is allowed. Without one, an autonomous agent does what its own configuration lets it, and an
// interactive one asks before everything that changes something or leaves the machine.
void write_permissions(JsonObject& object, const Launch& launch) {
  bool alone = launch.mode == AgentMode::autonomous;
  if (launch.allowed_tools.empty()) {
    if (alone) return;
    object.json("permission", R"({"edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","task":"ask"})");
    return;
  }
  std::map<std::string, std::vector<std::string>> uses;
  for (const auto& rule : launch.allowed_tools) {
    auto [tool, pattern] = allowed_use(rule);
    uses[tool].push_back(pattern);
  }
  // The last rule that fits is the one that counts.
  std::string_view otherwise = alone ? "deny" : "ask";
  std::string& permission = object.member("permission");
  permission.append("{\"*\":\"").append(otherwise).append("\"");
  for (const auto& [tool, patterns] : uses) {
    permission.push_back(',');
    append_json_string(permission, tool);
    if (std::ranges::find(patterns, "*") != patterns.end()) {
      permission.append(":\"allow\"");
      continue;
    }
    permission.append(":{\"*\":\"").append(otherwise).append("\"");
    for (const auto& pattern : patterns) {
      permission.push_back(',');
      append_json_string(permission, pattern);
      permission.append(":\"allow\"");
    }
    permission.push_back('}');
  }
  permission.push_back('}');
}

// {"command":"x","args":["y"],"env":{…}} or {"url":…,"headers":{…}} in OpenCode's words.
Result<std::string> server_of(std::string_view name, std::string_view server) {
  std::string command = text_member(server, "command"), url = text_member(server, "url");
  if (command.empty() && url.empty()) {
    return fail(ErrorCode::invalid_argument, "bad_launch",
                "the MCP server \"" + std::string(name) + "\" has neither a command nor a url");
  }
  return object_text([&](JsonObject& object) {
    object.text("type", url.empty() ? "local" : "remote");
    object.flag("enabled", true);
    if (!url.empty()) {
      object.text("url", url);
      if (auto headers = find_member(server, "headers"); headers.starts_with('{')) object.json("headers", headers);
      return;
    }
    std::string& words = object.member("command");
    words.push_back('[');
    append_json_string(words, command);
    if (auto arguments = array_elements(find_member(server, "args"))) {
      for (std::string_view argument : *arguments) words.append(",").append(argument);
    }
    words.push_back(']');
    if (auto env = find_member(server, "env"); env.starts_with('{')) object.json("environment", env);
  });
}

Result<std::string> servers_of(std::string_view json) {
  if (!json.starts_with('{')) return fail(ErrorCode::invalid_argument, "bad_launch", "mcpServers must be an object");
  std::string_view inner = find_member(json, "mcpServers");
  std::string out = "{";
  JsonMembers servers(inner.empty() ? json : inner);
  while (servers.next()) {
    Result<std::string> server = server_of(servers.key(), servers.value());
    if (!server) return server;
    out.append(out.size() > 1 ? ",\"" : "\"").append(servers.key()).append("\":").append(*server);
  }
  return out + "}";
}

}  // namespace

Result<void> check_opencode_launch(const Launch& launch) {
  auto not_an_option = [](std::string_view what, std::string_view value) -> Result<void> {
    if (!value.starts_with('-')) return {};
    return fail(ErrorCode::invalid_argument, "bad_launch",
                std::string(what) + " may not begin with a dash: the agent would read it as an option");
  };
  if (launch.prompt.empty() && launch.resume_session.empty()) {
    return fail(ErrorCode::invalid_argument, "no_prompt", "the task has no description: say what to do");
  }
  if (auto ok = not_an_option("a model", launch.model); !ok) return ok;
  return not_an_option("a session id", launch.resume_session);
}

Result<std::string> opencode_configuration(const Launch& launch) {
  std::string servers;
  if (!launch.mcp_servers_json.empty()) {
    Result<std::string> made = servers_of(launch.mcp_servers_json);
    if (!made) return made;
    servers = *std::move(made);
  }
  return object_text([&](JsonObject& object) {
    write_permissions(object, launch);
    if (!servers.empty()) object.json("mcp", servers);
  });
}

std::string opencode_prompt(const Launch& launch) {
  std::string text;
  if (!launch.rules.empty()) text.append("Rules:\n\n").append(launch.rules).append("\n\nTask:\n\n");
  text.append(launch.prompt.empty() ? "Continue." : launch.prompt);
  if (!launch.context.empty()) text.append("\n\nContext:\n\n").append(launch.context);
  return text;
}

std::vector<EnvironmentEntry> opencode_environment(const std::string& configuration) {
  std::vector<EnvironmentEntry> environment{{"OPENCODE_DISABLE_AUTOUPDATE", "1"}};
  if (configuration != "{}") environment.push_back({"OPENCODE_CONFIG_CONTENT", configuration});
  return environment;
}

std::vector<std::string> opencode_version_command(const std::string& program) {
  return {program.empty() ? std::string(kProgram) : program, "--version"};
}

// The directories of the XDG convention, each under its variable or in the home directory.
std::vector<std::string> opencode_state_paths(const Driver::Variable& variable) {
  std::vector<std::string> paths;
  std::string home = variable("HOME");
  auto add = [&](std::string_view name, std::string_view otherwise) {
    std::string base = variable(name);
    if (base.empty() && !home.empty()) base = home + std::string(otherwise);
    if (!base.empty()) paths.push_back(base + "/opencode");
  };
  add("XDG_DATA_HOME", "/.local/share");
  add("XDG_STATE_HOME", "/.local/state");
  add("XDG_CONFIG_HOME", "/.config");
  add("XDG_CACHE_HOME", "/.cache");
  return paths;
}

}  // namespace shepherd
