// How far one word is from another. Threads: any.
#pragma once

#include <cstddef>
#include <string_view>

namespace shepherd {

// How many bytes must be changed, added or left out to make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace shepherd
