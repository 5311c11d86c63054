#include "cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help_format.h"

namespace shepherd {
namespace {

enum class Value : std::uint8_t { none, word, choice, file, task };

struct Flag {
  std::string name;  // "--state", "-h"
  std::string help;
  Value value = Value::none;
  std::vector<std::string> choices;  // for Value::choice
};

// The flags whose value is a file or directory. Offering files for an address or a number would be misleading.
constexpr std::array<std::string_view, 18> kFileFlags{
    "ca-file",          "cert-file",         "config", "data",     "directory", "grpc-tls-cert",
    "grpc-tls-key",     "internal-tls-cert", "junit",  "key-file", "program",   "rules",
    "internal-tls-key", "settings",          "tasks",  "tls-cert", "tls-key",   "token-file"};
constexpr std::array<std::string_view, 3> kTaskFlags{"dismiss", "resume", "task"};

struct VerbTree {
  std::string path;  // "tasks create"; empty for the program itself
  std::string help;
  std::vector<Flag> flags;
  bool takes_task = false;           // its first argument is a task
  std::vector<std::string> choices;  // choices for its first argument
  std::vector<VerbTree> commands;
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

Value value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Value::none;
  if (!choices_of(option).empty()) return Value::choice;
  auto is_in = [&](const auto& names) {
    return std::ranges::any_of(option.get_lnames(),
                               [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
  };
  return is_in(kFileFlags) ? Value::file : is_in(kTaskFlags) ? Value::task : Value::word;
}

VerbTree read_tree(const CLI::App& app, const std::string& path) {
  VerbTree command{path, app.get_description(), {}, false, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      command.takes_task = command.takes_task || option->get_name(true, false) == "TASK";
      if (command.choices.empty()) command.choices = choices_of(*option);
    }
    auto add = [&](const std::string& name) {
      command.flags.push_back({name, option->get_description(), value_of(*option), choices_of(*option)});
    };
    for (const std::string& name : option->get_lnames()) add("--" + name);
    for (const std::string& name : option->get_snames()) add("-" + name);
  }
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    command.commands.push_back(read_tree(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name()));
  }
  return command;
}

void flatten(const VerbTree& command, std::vector<const VerbTree*>& out) {
  out.push_back(&command);
  for (const VerbTree& sub : command.commands) flatten(sub, out);
}

std::string joined_names(const VerbTree& command) {
  std::string words;
  for (const VerbTree& sub : command.commands) words += sub.name() + " ";
  for (const std::string& choice : command.choices) words += choice + " ";
  for (const Flag& flag : command.flags) words += flag.name + " ";
  if (!words.empty()) words.pop_back();
  return words;
}

// Descriptions are in single quotes, and brackets and colons have a meaning in zsh.
std::string shell_quoted(std::string_view text, std::string_view escaped = "") {
  std::string out;
  for (char c : text) {
    if (c == '\n') break;
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (escaped.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string function_name(const VerbTree& command) {
  std::string name = "_shepherd";
  if (!command.path.empty()) name += "_" + command.path;
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return name;
}

std::string zsh_value(const Flag& flag) {
  switch (flag.value) {
    case Value::none:
      return "";
    case Value::word:
      return ":value: ";
    case Value::choice:
      return fmt::format(":value:({})", fmt::join(flag.choices, " "));
    case Value::file:
      return ":file:_files";
    case Value::task:
      return ":task:{compadd -- $(shepherd completion tasks 2>/dev/null)}";
  }
  return "";
}

// If nothing matches, bash must not offer files instead.
std::string bash_value(const Flag& flag) {
  if (flag.value == Value::file) return "COMPREPLY=($(compgen -f -- \"$current\"))";
  std::string words = flag.value == Value::choice ? fmt::format("'{}'", fmt::join(flag.choices, " "))
                      : flag.value == Value::task ? "\"$(shepherd completion tasks 2>/dev/null)\""
                                                  : "''";
  return fmt::format("compopt +o default; COMPREPLY=($(compgen -W {} -- \"$current\"))", words);
}

std::string fish_value(const Flag& flag) {
  switch (flag.value) {
    case Value::none:
      return "";
    case Value::word:
      return " -x";
    case Value::choice:
      return fmt::format(" -x -a '{}'", fmt::join(flag.choices, " "));
    case Value::file:
      return " -r -F";
    case Value::task:
      return " -x -a '(shepherd completion tasks 2>/dev/null)'";
  }
  return "";
}

void append_zsh_function(std::string& out, const VerbTree& command) {
  out += fmt::format("{}() {{\n  _arguments -C \\\n", function_name(command));
  for (const Flag& flag : command.flags) {
    out += fmt::format("    '{}[{}]{}' \\\n", flag.name, shell_quoted(flag.help, "[]:"), zsh_value(flag));
  }
  if (command.commands.empty()) {
    out += command.takes_task
               ? "    '1:task:{compadd -- $(shepherd completion tasks 2>/dev/null)}' '*:argument:_files'\n}\n\n"
           : !command.choices.empty() ? fmt::format("    '1:value:({})'\n}}\n\n", fmt::join(command.choices, " "))
                                      : "    '*:argument:_files'\n}\n\n";
    return;
  }
  out +=
      "    '1:command:->command' '*::argument:->argument'\n  case $state in\n    command)\n      local -a commands=(\n";
  for (const VerbTree& sub : command.commands) {
    out += fmt::format("        '{}:{}'\n", sub.name(), shell_quoted(sub.help, ":"));
  }
  out += "      )\n      _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (const VerbTree& sub : command.commands) {
    out += fmt::format("        {}) {} ;;\n", sub.name(), function_name(sub));
  }
  out += "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  VerbTree root = read_tree(app, "");
  std::vector<const VerbTree*> commands;
  flatten(root, commands);
  std::string out =
      "# bash completion for shepherd. Use: source <(shepherd completion bash)\n"
      "_shepherd() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path= word i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case \" $path${path:+ }$word \" in\n";
  for (const VerbTree* command : commands) {
    if (!command->path.empty()) out += fmt::format("      ' {} ') path='{}' ;;\n", command->path, command->path);
  }
  out += "    esac\n  done\n  case \"$path $previous\" in\n";
  for (const VerbTree* command : commands) {
    for (const Flag& flag : command->flags) {
      if (flag.value == Value::none) continue;
      out += fmt::format("    '{} {}') {}; return ;;\n", command->path, flag.name, bash_value(flag));
    }
  }
  out += "  esac\n  local words=\n  case \"$path\" in\n";
  for (const VerbTree* command : commands) {
    std::string tasks = command->takes_task ? "\" $(shepherd completion tasks 2>/dev/null)\"" : "";
    out += fmt::format("    '{}') words='{}'{} ;;\n", command->path, joined_names(*command), tasks);
  }
  out +=
      "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
      "complete -o default -F _shepherd shepherd\n";
  return out;
}

std::string zsh_completion(const CLI::App& app) {
  VerbTree root = read_tree(app, "");
  std::vector<const VerbTree*> commands;
  flatten(root, commands);
  std::string out = "#compdef shepherd\n# zsh completion for shepherd. Use: source <(shepherd completion zsh)\n\n";
  for (const VerbTree* command : commands) append_zsh_function(out, *command);
  out += "compdef _shepherd shepherd\n";
  return out;
}

std::string fish_completion(const CLI::App& app) {
  VerbTree root = read_tree(app, "");
  std::vector<const VerbTree*> commands;
  flatten(root, commands);
  std::string out =
      "# fish completion for shepherd. Use: shepherd completion fish | source\n"
      "function __shepherd_at\n"
      "  set -l words (commandline -opc)\n"
      "  set -l path\n"
      "  for word in $words[2..-1]\n"
      "    string match -q -- '-*' $word; or set -a path $word\n"
      "  end\n"
      "  set -l wanted (count $argv)\n"
      "  test $wanted -le (count $path); and test \"$argv\" = \"$path[1..$wanted]\"\n"
      "end\n"
      "function __shepherd_start\n"
      "  test (count (commandline -opc)) -eq 1\n"
      "end\n"
      "complete -c shepherd -f\n";
  for (const VerbTree* command : commands) {
    std::string where = command->path.empty() ? "__shepherd_start" : "__shepherd_at " + command->path;
    for (const VerbTree& sub : command->commands) {
      out += fmt::format("complete -c shepherd -n '{}' -a {} -d '{}'\n", where, sub.name(), shell_quoted(sub.help));
    }
    if (command->takes_task) {
      out += fmt::format("complete -c shepherd -n '{}' -a '(shepherd completion tasks 2>/dev/null)'\n", where);
    } else if (!command->choices.empty()) {
      out += fmt::format("complete -c shepherd -n '{}' -a '{}'\n", where, fmt::join(command->choices, " "));
    }
    for (const Flag& flag : command->flags) {
      bool is_long = flag.name.starts_with("--");
      out += fmt::format("complete -c shepherd -n '{}' -{} {}{} -d '{}'\n", where, is_long ? "l" : "s",
                         flag.name.substr(is_long ? 2 : 1), fish_value(flag), shell_quoted(flag.help));
    }
  }
  return out;
}

}  // namespace shepherd
