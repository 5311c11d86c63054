// The edit distance between two words. Threads: any.
#pragma once

#include <cstddef>
#include <string_view>

namespace shepherd {

// The number of bytes to change, insert or delete to turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace shepherd
