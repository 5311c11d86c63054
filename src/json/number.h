// JSON numbers as text.
// Threads: value.
#pragma once

#include <cstddef>
#include <string_view>

namespace shepherd {

// The length of the number that `json` begins with; 0 when there is none, or one that fits into neither a 64-bit
// integer nor a finite double.
std::size_t number_length(std::string_view json);

}  // namespace shepherd
