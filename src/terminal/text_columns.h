// How many columns of a terminal a text takes: wide characters take two, combining ones none. The same everywhere,
// whatever locale the process runs in.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

std::size_t columns_of(std::string_view text);

// The beginning that fits, the last character an ellipsis when something was cut.
std::string cut_to_columns(std::string_view text, std::size_t columns);

// The lines of the text, each at most so many columns wide; broken between words where that is possible, with the
// indentation of the line that was broken. Nothing of the text is lost. 0: the lines as they are.
std::vector<std::string> wrapped_lines(std::string_view text, std::size_t columns);

}  // namespace shepherd
