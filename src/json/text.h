// Whole texts: whether the bytes are UTF-8, and JSON without the blanks between its tokens.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

bool is_utf8(std::string_view bytes);

// Appends the JSON text without the blanks between its tokens. The text was validated before: without blanks `1 2` is
// a number. False, and nothing is appended, when a string in it does not end.
bool append_compact_json(std::string& out, std::string_view json);

}  // namespace shepherd
