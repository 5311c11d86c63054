// Which program a shell command runs, for rules that allow it: "run_command(git)". Threads: value.
//
// A rule with a program's name must not allow anything else, so only the plainest commands have one: words and quoted
// texts, without variables, substitutions, redirections, backslashes, or anything else that a shell acts on. Every
// other command is named by its whole text, and so is one of a program that runs other programs (sh, env, sudo, xargs).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

// The program of a plain command; nullopt for any other.
std::optional<std::string_view> program_of(std::string_view command);

// "run_command(git)", or "run_command("cd x && make")" with the whole text. The two never collide: a program's name has
// no quote.
std::string command_rule(std::string_view command);

}  // namespace shepherd
