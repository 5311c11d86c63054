// "Did you mean …": the candidate with the smallest edit distance, when it is near enough to be what was meant.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);  // empty: none is near

}  // namespace shepherd
