// "Did you mean …": the candidate with the smallest edit distance, if it is similar enough.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

// Empty if no candidate is similar.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace shepherd
