// Makes text valid UTF-8 for protobuf string fields. A receiver in Go or Python rejects the whole message otherwise.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shepherd::agent {

// Replaces every byte that is not part of valid UTF-8 by U+FFFD.
std::string valid_utf8(std::string_view text);

// Returns the length of the longest prefix of at most `most` bytes (at least 4) that does not end inside a character.
std::size_t whole_characters(std::string_view text, std::size_t most);

}  // namespace shepherd::agent
