#include <algorithm>
#include <array>

#include "driver/acp/acp_agent.h"
#include "driver/acp/rpc_lines.h"
#include "json/write.h"

namespace shepherd {
namespace {

// What the client can do. Only what the protocol calls stable: an agent may refuse what it does not know.
constexpr std::string_view kInitialize =
    R"({"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,)"
    R"("session":{"compaction":{},"notices":{},"configOptions":{"boolean":{}}},)"
    R"("elicitation":{"form":{},"url":{}}},)"
    R"("clientInfo":{"name":"shepherd","title":"Shepherd","version":"1"}})";

// Where known programs keep what is theirs: `below` the directory that a variable names, or else below `usual` in the
// home directory.
struct Home {
  std::string_view program, variable, usual, below;
};
constexpr std::string_view kConfig = "/.config", kData = "/.local/share", kState = "/.local/state", kCache = "/.cache";
constexpr std::array kHomes{
    Home{"goose", "XDG_CONFIG_HOME", kConfig, "/goose"},
    Home{"goose", "XDG_DATA_HOME", kData, "/goose"},
    Home{"goose", "XDG_STATE_HOME", kState, "/goose"},
    Home{"opencode", "XDG_CONFIG_HOME", kConfig, "/opencode"},
    Home{"opencode", "XDG_DATA_HOME", kData, "/opencode"},
    Home{"opencode", "XDG_STATE_HOME", kState, "/opencode"},
    Home{"opencode", "XDG_CACHE_HOME", kCache, "/opencode"},
    Home{"kilo", "XDG_CONFIG_HOME", kConfig, "/kilo"},
    Home{"kilo", "XDG_DATA_HOME", kData, "/kilo"},
    Home{"kilo", "XDG_STATE_HOME", kState, "/kilo"},
    Home{"kilo", "XDG_CACHE_HOME", kCache, "/kilo"},
    Home{"gemini", "GEMINI_CLI_HOME", "", "/.gemini"},
    Home{"qwen", "", "", "/.qwen"},
    Home{"claude-agent-acp", "CLAUDE_CONFIG_DIR", "/.claude", ""},
    Home{"codex-acp", "CODEX_HOME", "/.codex", ""},
    Home{"copilot", "", "", "/.copilot"},
    Home{"kimi", "", "", "/.kimi-code"},
    Home{"vibe-acp", "VIBE_HOME", "/.vibe", ""},
};

std::string_view base_name(std::string_view program) {
  return program.substr(program.rfind('/') + 1);
}

}  // namespace

// Only programs that are known to have the option: another one may begin to work instead.
std::vector<std::string> AcpAgent::version_command(const std::string& program) const {
  std::string_view name = base_name(program);
  bool known = std::ranges::any_of(kHomes, [&](const Home& home) { return home.program == name; });
  if (!known) return {};
  return {program, "--version"};
}

std::vector<std::string> AcpAgent::state_paths(const Variable& variable) const {
  std::string_view program = base_name(launched_.command.empty() ? launched_.program : launched_.command.front());
  std::string home = variable("HOME");
  std::vector<std::string> paths;
  for (const Home& each : kHomes) {
    if (each.program != program) continue;
    std::string base = each.variable.empty() ? "" : variable(each.variable);
    if (base.empty() && !home.empty()) base = home + std::string(each.usual);
    if (!base.empty()) paths.push_back(base + std::string(each.below));
  }
  return paths;
}

Result<LaunchPlan> AcpAgent::launch(const Launch& launch) {
  if (launch.command.empty() && launch.program.empty()) {
    return fail(ErrorCode::invalid_argument, "no_command", "say which command starts the agent");
  }
  if (launch.prompt.empty() && launch.resume_session.empty()) {
    return fail(ErrorCode::invalid_argument, "no_prompt", "the task has no description: say what to do");
  }
  if (!launch.mcp_servers_json.empty() && !launch.mcp_servers_json.starts_with('{')) {
    return fail(ErrorCode::invalid_argument, "bad_launch", "mcpServers must be an object");
  }
  launched_ = launch;
  mode_ = launch.mode;
  LaunchPlan plan;
  plan.way = ProgramLaunch{launch.command.empty() ? std::vector{launch.program} : launch.command, {}};
  plan.keep_input_open = true;
  plan.input = rpc_request(next_request_, "initialize", kInitialize);
  sent_.emplace(next_request_++, Sent{});
  hints_.turn = Hints::Turn::running;
  return plan;
}

}  // namespace shepherd
