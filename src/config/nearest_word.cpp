#include "config/nearest_word.h"

#include <algorithm>
#include <cstddef>

#include "model/edit_distance.h"

namespace shepherd {
namespace {

std::string_view last_part(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(word, candidate);
    // A correct name in a wrong section is also similar.
    if (last_part(candidate) == last_part(word)) distance = std::min<std::size_t>(distance, 2);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace shepherd
