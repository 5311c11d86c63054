#include "tools/command_rule.h"

#include <algorithm>
#include <array>

namespace shepherd {
namespace {

// Programs and words of the shell whose arguments are programs.
constexpr std::array<std::string_view, 46> kRunners{
    ".",       "ash",    "bash",    "builtin",  "busybox", "cd",      "chroot", "command", "dash",    "doas",
    "env",     "eval",   "exec",    "export",   "find",    "fish",    "flock",  "if",      "ionice",  "ksh",
    "nice",    "nohup",  "nsenter", "parallel", "pkexec",  "script",  "set",    "setsid",  "sh",      "source",
    "ssh",     "stdbuf", "strace",  "su",       "sudo",    "taskset", "then",   "time",    "timeout", "trap",
    "unshare", "until",  "watch",   "while",    "xargs",   "zsh"};

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '+' || c == '/';
}

// What a shell passes on unchanged, or expands to names of files.
bool is_plain_byte(char c) {
  return is_name_byte(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view(":=,@%*?[]").find(c) != std::string_view::npos;
}

// One past the closing quote; npos if the text in it is not plain.
std::size_t end_of_quoted(std::string_view command, std::size_t at) {
  char quote = command[at];
  for (++at; at < command.size() && command[at] != quote; ++at) {
    char c = command[at];
    if (c == '\n' || c == '\r' || c == '\0') return std::string_view::npos;
    if (quote == '"' && (c == '$' || c == '`' || c == '\\' || c == '!')) return std::string_view::npos;
  }
  return at < command.size() ? at + 1 : std::string_view::npos;
}

}  // namespace

std::optional<std::string_view> program_of(std::string_view command) {
  std::size_t begin = command.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  std::size_t end = begin;
  while (end < command.size() && is_name_byte(command[end])) ++end;
  // The name ends the command or is followed by a blank: "a=b" and "a'b'" are no names.
  if (end == begin || (end < command.size() && command[end] != ' ' && command[end] != '\t')) return std::nullopt;
  std::string_view program = command.substr(begin, end - begin);
  for (std::size_t at = end; at < command.size();) {
    char c = command[at];
    if (c == '\'' || c == '"') {
      at = end_of_quoted(command, at);
      if (at == std::string_view::npos) return std::nullopt;
    } else if (c == ' ' || c == '\t' || is_plain_byte(c)) {
      ++at;
    } else {
      return std::nullopt;
    }
  }
  std::string_view base = program.substr(program.rfind('/') + 1);
  if (base.empty() || std::ranges::find(kRunners, base) != kRunners.end()) return std::nullopt;
  return program;
}

std::string command_rule(std::string_view command) {
  if (auto program = program_of(command)) return "run_command(" + std::string(*program) + ")";
  return "run_command(\"" + std::string(command) + "\")";
}

}  // namespace shepherd
