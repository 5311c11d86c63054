// Reads the members of a stream's messages without parsing the whole.
// Threads: any (no state).
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "json/scan.h"

namespace shepherd {

inline std::uint64_t number_member(std::string_view object, std::string_view name) {
  std::string_view source = find_member(object, name);
  std::uint64_t value = 0;
  std::from_chars(source.data(), source.data() + source.size(), value);
  return value;
}

// For words without escapes: task ids, types of messages.
inline std::string_view word_member(std::string_view object, std::string_view name) {
  std::string_view source = find_member(object, name);
  return source.size() >= 2 && source.front() == '"' ? source.substr(1, source.size() - 2) : source;
}

}  // namespace shepherd
