// The commands of `shepherd chat` that are typed instead of a prompt: /clear, /session NAME.
// Threads: any (stateless).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/styled_line.h"

namespace shepherd {

struct ChatCommand {
  std::string name;  // without the slash; not necessarily a known one
  std::string rest;  // the text behind it
};

// nullopt if the line is a prompt: it does not begin with a slash and letters, as a path does not.
std::optional<ChatCommand> read_chat_command(std::string_view line);

// The commands that begin like this: "/se" -> "/session", "/sessions". None unless it begins with a slash.
std::vector<std::string> chat_commands_with(std::string_view start);

std::vector<StyledLine> chat_help();

}  // namespace shepherd
