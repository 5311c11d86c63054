// Reads the value of an HTTP header.
// Threads: any (stateless).
#pragma once

#include <string_view>

namespace shepherd {

// Removes the blanks around the text.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace shepherd
