#include "cli/help_format.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace shepherd {
namespace {

constexpr std::size_t kShownChoices = 40;  // characters; longer lists go into the description

// Removes the checks from the parser's type names, such as "TEXT:{a,b}" and "UINT:INT in [1 - 256]".
std::string value_name(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type.resize(std::min(type.size(), type.find(':')));
  if (type == "UINT" || type == "INT" || type == "FLOAT") return "N";
  return type;
}

}  // namespace

std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  std::size_t open = type.find('{');
  std::size_t close = type.find('}');
  std::vector<std::string> choices;
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::string word;
  for (char c : type.substr(open + 1, close - open - 1) + ",") {
    if (c != ',') {
      word += c;
    } else if (!word.empty()) {
      choices.push_back(std::exchange(word, {}));
    }
  }
  return choices;
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at = help.find("\n\n\n"); at != std::string::npos; at = help.find("\n\n\n", at)) help.erase(at, 1);
  while (help.ends_with("\n\n")) help.pop_back();
  if (help.ends_with('\n')) help.pop_back();
  return help;
}

std::string HelpFormat::make_option_name(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return option->get_name(true, false);
  std::string names;
  for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  return names;
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  bool takes_value = option->get_items_expected_max() > 0 && !option->get_type_name().empty();
  if (!takes_value || option->get_positional()) return {};
  std::string choices = fmt::format("{}", fmt::join(choices_of(*option), "|"));
  return " " + (!choices.empty() && choices.size() <= kShownChoices ? choices : value_name(*option));
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  std::string choices = fmt::format("{}", fmt::join(choices_of(*option), ", "));
  bool shown = !option->get_positional() && choices.size() <= kShownChoices;
  if (!choices.empty() && !shown && text.find(choices_of(*option).front()) == std::string::npos) {
    text += ": " + choices;
  }
  if (!option->get_default_str().empty()) text += fmt::format(" (default {})", option->get_default_str());
  return text;
}

CLI::Validator amount_check() {
  return CLI::Validator(
      [](std::string& text) {
        double amount = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
        bool good = error == std::errc() && end == text.data() + text.size() && std::isfinite(amount) && amount >= 0;
        return good ? std::string() : fmt::format("\"{}\" is not an amount; write 2 or 0.50", text);
      },
      "");
}

CLI::Validator count_check(long long least) {
  return CLI::Validator(
      [least](std::string& text) {
        long long count = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        bool good = error == std::errc() && end == text.data() + text.size() && count >= least;
        return good ? std::string() : fmt::format("\"{}\" is not a whole number of at least {}", text, least);
      },
      "");
}

}  // namespace shepherd
