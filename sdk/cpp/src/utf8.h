// Text for a protobuf string field, which must be UTF-8: a receiver in Go or Python refuses the whole message
// otherwise. Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shepherd::agent {

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// The longest part of the text's start, at most `most` bytes (at least 4), that does not end inside a character.
std::size_t whole_characters(std::string_view text, std::size_t most);

}  // namespace shepherd::agent
