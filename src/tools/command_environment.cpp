#include "tools/command_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 7> kSecretWords{"KEY",    "TOKEN",      "SECRET",    "PASSWORD",
                                                       "PASSWD", "CREDENTIAL", "PASSPHRASE"};
constexpr std::array<std::string_view, 6> kQuiet{
    "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true"};

bool says_secret(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return std::ranges::any_of(kSecretWords,
                             [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

}  // namespace

std::vector<std::string> command_environment(const std::vector<std::string>& own,
                                             const std::vector<std::string>& secret) {
  std::vector<std::string> kept(kQuiet.begin(), kQuiet.end());
  for (const std::string& variable : own) {
    std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    bool quiet =
        std::ranges::any_of(kQuiet, [&](std::string_view set) { return set.substr(0, set.find('=')) == name; });
    bool hidden = name.starts_with("SHEPHERD_") || says_secret(name) ||
                  std::ranges::find(secret, name) != secret.end() || name == "NOTIFY_SOCKET" || name == "LISTEN_FDS";
    if (!quiet && !hidden) kept.push_back(variable);
  }
  return kept;
}

}  // namespace shepherd
