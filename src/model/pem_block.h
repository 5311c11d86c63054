// Private keys in PEM form, whole or cut off at either end.
// Threads: value.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "model/text_class.h"

namespace shepherd {

// True when the armour line at text[at] ("-----BEGIN", "-----END") is of a private key.
bool is_private_key_armour(std::string_view text, std::size_t at);

// A key that begins at text[begin], up to its end line or, when that is missing, as far as it looks like key material.
std::optional<TextSpan> pem_from_begin(std::string_view text, std::size_t begin);

// A key whose end line is at text[at] and whose beginning is not in the text: the key material before it.
std::optional<TextSpan> pem_to_end(std::string_view text, std::size_t at, std::size_t floor);

}  // namespace shepherd
