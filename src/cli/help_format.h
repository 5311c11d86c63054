// The format of every command's help: plain names for values, defaults in the description.
// Threads: value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace shepherd {

// Threads: value.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

// The values of an option that accepts a few words; empty: any.
std::vector<std::string> choices_of(const CLI::Option& option);

// Checks for an amount of money of at least zero, for CLI::Option::check().
CLI::Validator amount_check();
// Checks for a whole number of at least `least`.
CLI::Validator count_check(long long least);

}  // namespace shepherd
