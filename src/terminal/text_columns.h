// Counts the terminal columns of a text: wide characters take two, combining ones none. The result does not depend on
// the process's locale.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

std::size_t columns_of(std::string_view text);

// The part that fits; if something was cut, the last character is an ellipsis.
std::string cut_to_columns(std::string_view text, std::size_t columns);

// The number of bytes at the text's start that make a line of at most `columns`, broken between words if possible; at
// least one character, and all of it if it fits. Spaces at the break belong to the line and may exceed it.
std::size_t bytes_that_fit(std::string_view line, std::size_t columns);

// The lines of the text, each at most `columns` wide, broken between words if possible and indented like the broken
// line. No text is lost. With 0 columns, lines stay as they are.
std::vector<std::string> wrapped_lines(std::string_view text, std::size_t columns);

}  // namespace shepherd
