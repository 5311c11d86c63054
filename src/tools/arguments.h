// The arguments of a call, as a model wrote them. Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// Errors are invalid_argument/bad_tool_arguments, with a message for the model that names the argument.
class Arguments {
 public:
  explicit Arguments(std::string_view json);  // anything

  bool is_object() const { return object_; }                 // in which no name occurs twice
  Result<std::string> text(std::string_view name) const;     // required, not empty
  Result<std::string> content(std::string_view name) const;  // required, may be empty
  Result<std::string> text_or(std::string_view name, std::string_view instead) const;
  Result<std::int64_t> number_or(std::string_view name, std::int64_t instead, std::int64_t least,
                                 std::int64_t most) const;
  Result<bool> flag_or(std::string_view name, bool instead) const;
  // For lines that people read: empty if it is missing or no text.
  std::string shown(std::string_view name) const;

 private:
  std::string json_;  // an object, or empty
  bool object_ = false;
};

}  // namespace shepherd
