// Private keys in PEM form, whole or cut off at either end.
//
// Only what a key consists of is taken: its armour lines and its lines of base64, with the line ends and the line
// numbers between them. Header lines and what a tool puts before each line ("> ", "| ") stay, so a key can have several
// pieces; a command between a first and a last line stays as well, and is no key by itself. Threads: value.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "redact/text_class.h"

namespace shepherd {

inline constexpr std::size_t kLeastKeyLine = 12;  // of base64; a shorter one is the last of a key, or a word
// What tools put before the lines of a text: the arrow after a number, and what quotes.
inline constexpr std::string_view kArrow = "\xE2\x86\x92";
inline constexpr std::string_view kQuoting = "|>#*-";

// True when the armour line at text[at] ("-----BEGIN", "-----END") is of a private key.
bool is_private_key_armour(std::string_view text, std::size_t at);

// A key that begins at text[begin], up to its end line or, when that is missing, as far as it is a key. No pieces:
// none.
std::vector<TextSpan> pem_from_begin(std::string_view text, std::size_t begin);

// A key whose end line is at text[at] and whose beginning is not in the text: the key material before it.
std::vector<TextSpan> pem_to_end(std::string_view text, std::size_t at, std::size_t floor);

}  // namespace shepherd
