// Reads the value of an HTTP header.
// Threads: any (stateless).
#pragma once

#include <algorithm>
#include <string_view>

namespace shepherd {

// Removes the blanks around the text.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "application/json; charset=utf-8" is application/json; `type` is in lower case.
inline bool is_media_type(std::string_view header, std::string_view type) {
  std::string_view given = trimmed(header.substr(0, header.find(';')));
  return given.size() == type.size() && std::equal(given.begin(), given.end(), type.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         });
}

}  // namespace shepherd
