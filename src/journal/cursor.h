// The cursor of multiplexed feeds: the store's global position as opaque text. A version letter, then the position in
// base64url digits, most significant first.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

void append_cursor(std::string& out, std::uint64_t position);
std::string encode_cursor(std::uint64_t position);

// "0" is the beginning of what is kept; any other text must come from encode_cursor. invalid_argument/bad_parameter.
Result<std::uint64_t> decode_cursor(std::string_view text);

}  // namespace shepherd
