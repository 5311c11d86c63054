// Bytes of files, programs and servers as text for a model and for people. Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shepherd {

// The bytes as UTF-8: what is not becomes U+FFFD.
std::string valid_text(std::string_view bytes);
// The first bytes of a text, at most `most`, not cut inside a character.
std::string_view first_bytes(std::string_view text, std::size_t most);
// The last ones.
std::string_view last_bytes(std::string_view text, std::size_t most);
// One line of at most `characters`: blanks and control characters become single spaces, and … says that text follows.
std::string shown_line(std::string_view text, std::size_t characters);
// Cuts a result to kMaxToolResultBytes, and says so at its end.
std::string bounded_result(std::string text, std::string_view note);

}  // namespace shepherd
