// How Codex can be launched otherwise than usual: its entries of Launch::options.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shepherd {

// How the agent is listened to, best first.
enum class CodexFormat : std::uint8_t {
  app_server,  // `codex app-server`: requests and answers both ways, live text, commands
  exec,        // `codex exec --json`: a line per step; standard input is closed
};
// Names: app-server, exec-json.
std::string_view name(CodexFormat format);
std::optional<CodexFormat> codex_format(std::string_view name);

// The name of a format; missing or unknown: app_server. The key is that of Claude Code's option.
inline constexpr std::string_view kCodexFormatOption = "output_format";

}  // namespace shepherd
