#include "driver/registry/known_agent.h"

#include <algorithm>
#include <array>

namespace shepherd {
namespace {

constexpr std::array kKnownAgents{
    KnownAgent{"claude", "Claude Code", "claude", "claude", "npm install -g @anthropic-ai/claude-code", "claude"},
    KnownAgent{"claude-acp", "Claude Code over ACP", "acp", "claude-agent-acp",
               "npm install -g @agentclientprotocol/claude-agent-acp", "claude"},
    KnownAgent{"codex", "Codex", "codex", "codex", "npm install -g @openai/codex", "codex"},
    KnownAgent{"codex-acp", "Codex over ACP", "acp", "codex-acp", "npm install -g @agentclientprotocol/codex-acp",
               "codex"},
    KnownAgent{"copilot", "GitHub Copilot CLI", "acp", "copilot --acp", "npm install -g @github/copilot", "copilot"},
    KnownAgent{"gemini", "Gemini CLI", "acp", "gemini --acp", "npm install -g @google/gemini-cli", "gemini"},
    KnownAgent{"gemini-stream", "Gemini CLI, one way", "gemini-stream", "gemini", "npm install -g @google/gemini-cli",
               "gemini"},
    KnownAgent{"goose", "Goose", "acp", "goose acp --with-builtin developer",
               "npm install -g @aaif/goose-binary-linux-x64, and link its program as goose", "goose"},
    KnownAgent{"kilo", "Kilo", "acp", "kilo acp", "npm install -g @kilocode/cli", "kilo"},
    KnownAgent{"kimi", "Kimi Code", "acp", "kimi acp", "npm install -g @moonshot-ai/kimi-code", "kimi"},
    KnownAgent{"opencode", "OpenCode", "opencode", "opencode", "npm install -g opencode-ai", "opencode"},
    KnownAgent{"opencode-run", "OpenCode, one way", "opencode-run", "opencode", "npm install -g opencode-ai",
               "opencode"},
    KnownAgent{"qwen", "Qwen Code", "acp", "qwen --acp", "npm install -g @qwen-code/qwen-code", "qwen"},
    KnownAgent{"vibe", "Mistral Vibe", "acp", "vibe-acp", "uv tool install mistral-vibe", "vibe"},
};

}  // namespace

std::vector<std::string> KnownAgent::words() const {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < command.size();) {
    std::size_t end = std::min(command.find(' ', at), command.size());
    words.emplace_back(command.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::span<const KnownAgent> known_agents() {
  return kKnownAgents;
}

const KnownAgent* known_agent(std::string_view name) {
  const auto* found = std::ranges::find(kKnownAgents, name, &KnownAgent::name);
  return found == kKnownAgents.end() ? nullptr : found;
}

std::string_view session_keeper(std::string_view name) {
  const KnownAgent* known = known_agent(name);
  return known == nullptr ? "" : known->keeper;
}

}  // namespace shepherd
