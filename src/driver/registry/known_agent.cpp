#include "driver/registry/known_agent.h"

#include <algorithm>
#include <array>

namespace shepherd {
namespace {

constexpr std::array kKnownAgents{
    KnownAgent{"claude", "Claude Code", "claude", "claude", "npm install -g @anthropic-ai/claude-code"},
    KnownAgent{"gemini-stream", "Gemini CLI, one way", "gemini-stream", "gemini", "npm install -g @google/gemini-cli"},
    KnownAgent{"opencode", "OpenCode", "opencode", "opencode", "npm install -g opencode-ai"},
    KnownAgent{"opencode-run", "OpenCode, one way", "opencode-run", "opencode", "npm install -g opencode-ai"},
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

}  // namespace shepherd
