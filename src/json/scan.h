// Walking over JSON text without a tree: members, elements and strings as slices of the source, byte for byte.
//
// Meant for text that was validated once: a draft's body, a finished event, a server's answer. Every step is
// bounds-checked all the same: on text that is not JSON the walk ends early or yields nonsense slices, but never leaves
// the text. Blanks between tokens are passed over.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/escapes.h"  // IWYU pragma: export

namespace shepherd {

// The end of the JSON value that starts at `at`: one past its last byte; npos when it does not end. `depth`, when
// given, grows to the deepest nesting seen (a scalar is 0, `{}` is 1).
std::size_t end_of_value(std::string_view json, std::size_t at, std::size_t* depth = nullptr);

// The members of an object, or the bare `"key":value,…` list that a draft's body is. What follows the object's closing
// brace is not looked at, so an object can be walked in the middle of a text.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view json);

  // Moves to the next member; false at the end or where the text stops being members.
  bool next();
  std::string_view key() const { return key_; }      // still escaped, without quotes
  std::string_view value() const { return value_; }  // source text of the value
  std::size_t depth() const { return depth_; }       // nesting of the value

  // After the last member: one past the object's closing brace; npos when there is none.
  std::size_t end() const;

 private:
  std::string_view json_;
  std::size_t at_;
  bool object_ = false;  // it began with a brace
  std::string_view key_;
  std::string_view value_;
  std::size_t depth_ = 0;
};

// The value of a member by its unescaped name; empty when there is none.
std::string_view find_member(std::string_view json, std::string_view key);

// The text of a string member; empty when there is none.
std::string text_member(std::string_view json, std::string_view key);

// The elements of an array; nullopt when the text is not an array.
std::optional<std::vector<std::string_view>> array_elements(std::string_view json);

// The length of the longest string (names included) in a JSON text, escaped, without quotes.
std::size_t longest_string(std::string_view json);

// A JSON string without its quotes, still escaped; empty for any other value.
std::string_view inside_quotes(std::string_view json);

// Slices of values by type; nullopt when the value is of another type.
std::optional<std::string> string_value(std::string_view json);  // unescaped
std::optional<double> number_value(std::string_view json);
std::optional<std::uint64_t> count_value(std::string_view json);  // a whole number >= 0; 3.0 and 1e3 count as whole

}  // namespace shepherd
