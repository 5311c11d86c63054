#include <optional>

#include "driver/codex/item.h"

namespace shepherd {
namespace {

// The text of one whole shell word; nullopt when it is several, does not end, or means more than its characters.
std::optional<std::string> word_text(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  std::string text;
  for (std::size_t at = 0; at < word.size();) {
    char c = word[at++];
    if (c == '\'') {
      std::size_t end = word.find('\'', at);
      if (end == std::string_view::npos) return std::nullopt;
      text.append(word.substr(at, end - at));
      at = end + 1;
    } else if (c == '"') {
      for (; at < word.size() && word[at] != '"'; ++at) {
        constexpr std::string_view kEscaped = "\"\\$`";
        if (word[at] == '$' || word[at] == '`') return std::nullopt;
        bool escape = word[at] == '\\' && at + 1 < word.size() && kEscaped.contains(word[at + 1]);
        if (escape) ++at;
        text.push_back(word[at]);
      }
      if (at++ >= word.size()) return std::nullopt;
    } else if (c == '\\' && at < word.size()) {
      text.push_back(word[at++]);
    } else if (kPlain.contains(c)) {
      text.push_back(c);
    } else {
      return std::nullopt;
    }
  }
  return text;
}

}  // namespace

std::string inner_command(std::string_view command) {
  for (std::string_view shell : {"/bin/bash", "/usr/bin/bash", "bash", "/bin/zsh", "zsh", "/bin/sh", "sh"}) {
    if (!command.starts_with(shell)) continue;
    std::string_view rest = command.substr(shell.size());
    for (std::string_view option : {" -lc ", " -c "}) {
      if (!rest.starts_with(option)) continue;
      if (auto text = word_text(rest.substr(option.size())); text && !text->empty()) return *text;
    }
  }
  return std::string(command);
}

}  // namespace shepherd
