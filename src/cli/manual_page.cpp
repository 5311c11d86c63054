#include "cli/manual_page.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "cli/help_format.h"
#include "host/version.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

// Escapes everything that troff would interpret.
std::string plain(std::string_view text) {
  std::string out;
  bool starts_line = true;
  while (!text.empty()) {
    Utf8Character character = first_character(text);
    char c = text.front();
    text.remove_prefix(character.bytes);
    if (character.valid && character.code >= 0x80) {
      out += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(character.code));
      starts_line = false;
      continue;
    }
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    starts_line = c == '\n';
  }
  return out;
}

void append_options(std::string& out, const CLI::App& command) {
  HelpFormat format;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    bool positional = option->get_positional();
    std::string name = format.make_option_name(option, positional);
    if (!positional) name += format.make_option_opts(option);
    out += fmt::format(".TP\n.B {}\n{}\n", plain(name), plain(format.make_option_desc(option)));
  }
}

std::string usage_of(const CLI::App& command) {
  std::string usage;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    std::string name = option->get_name(true, false);
    if (option->get_expected_max() > 1) name += "...";
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

void append_command(std::string& out, const CLI::App& command, const std::string& path) {
  out += fmt::format(".SS {}{}\n{}.\n", plain(path), plain(usage_of(command)), plain(command.get_description()));
  append_options(out, command);
  if (std::string more = command.get_footer(); !more.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(more));
  for (const CLI::App* sub : command.get_subcommands(nullptr)) append_command(out, *sub, path + " " + sub->get_name());
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH SHEPHERD 1 \"\" \"shepherd {}\" \"User Commands\"\n.SH NAME\nshepherd \\- run, watch and steer AI agents\n"
      ".SH SYNOPSIS\n.B shepherd\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n{}\n.PP\n.nf\n{}\n.fi\n.SH "
      "COMMANDS\n",
      kVersion, plain(app.get_description()), plain(app.get_footer()));
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    append_command(out, *command, "shepherd " + command->get_name());
  }
  return out;
}

}  // namespace shepherd
