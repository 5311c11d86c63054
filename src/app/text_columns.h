// How many columns of a terminal a text takes: wide characters take two, combining ones none. The same everywhere,
// whatever locale the process runs in.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shepherd {

std::size_t columns_of(std::string_view text);

// The beginning that fits, the last character an ellipsis when something was cut.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace shepherd
