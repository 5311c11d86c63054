#include "cli/chat_commands.h"

#include <fmt/format.h>

#include <array>

namespace shepherd {
namespace {

struct Help {
  std::string_view name, argument, text;
};
constexpr std::array kCommandHelp{
    Help{"help", "", "this list"},
    Help{"clear", "", "empty the conversation"},
    Help{"cancel", "", "end the turn that runs, as Ctrl-C does"},
    Help{"session", "[NAME]", "show this session, or open another"},
    Help{"sessions", "", "list the sessions"},
    Help{"fork", "[NAME]", "copy this session and go on in the copy"},
    Help{"history", "", "show the whole conversation"},
    Help{"tool", "[N]", "show a tool call in full; without N the newest, as Ctrl-O does"},
    Help{"quit", "", "leave; the session stays, as with Ctrl-D"},
};
constexpr std::array kKeyHelp{
    Help{"Enter", "", "send"},
    Help{"Alt-Enter, Ctrl-J", "", "new line; so does a backslash before Enter"},
    Help{"Ctrl-C", "", "cancel the turn; otherwise empty the line"},
    Help{"Up, Down, Ctrl-R", "", "earlier lines, search in them"},
    Help{"y, n, a", "", "when a tool asks: yes, no, always in this session"},
    Help{"Ctrl-L", "", "clean the screen"},
};

constexpr std::string_view kBlanks = " \n\t";

}  // namespace

std::optional<ChatCommand> read_chat_command(std::string_view line) {
  if (!line.starts_with('/')) return std::nullopt;
  std::size_t end = 1;
  while (end < line.size() && line[end] >= 'a' && line[end] <= 'z') ++end;
  if (end == 1 || (end < line.size() && kBlanks.find(line[end]) == std::string_view::npos)) return std::nullopt;
  std::string_view rest = line.substr(end);
  std::size_t first = rest.find_first_not_of(kBlanks);
  rest = first == std::string_view::npos ? std::string_view()
                                         : rest.substr(first, rest.find_last_not_of(kBlanks) - first + 1);
  return ChatCommand{std::string(line.substr(1, end - 1)), std::string(rest)};
}

std::vector<std::string> chat_commands_with(std::string_view start) {
  std::vector<std::string> names;
  if (!start.starts_with('/')) return names;
  for (const Help& help : kCommandHelp) {
    if (help.name.starts_with(start.substr(1))) names.push_back(fmt::format("/{}", help.name));
  }
  return names;
}

std::vector<StyledLine> chat_help() {
  std::vector<StyledLine> lines;
  auto add = [&](const std::string& what, std::string_view text) {
    lines.push_back({{{fmt::format("  {:<20}", what), {.color = Color::cyan}}, {std::string(text)}}, 22});
  };
  for (const Help& help : kCommandHelp) add(fmt::format("/{} {}", help.name, help.argument), help.text);
  for (const Help& help : kKeyHelp) add(std::string(help.name), help.text);
  return lines;
}

}  // namespace shepherd
