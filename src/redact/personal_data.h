// E-mail addresses and payment card numbers.
// Threads: value.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "redact/secret_shapes.h"

namespace shepherd {

// The address around the '@' at text[at]. Not an address: git@host, no-reply senders, name@1.2.3, icon@2x.png.
std::optional<SecretSpan> email_at(std::string_view text, std::size_t at, std::size_t floor);
// Never false where the text, or a string inside it when it is JSON source, has an address.
bool may_have_email(std::string_view text);

// The card number that starts with the digit at text[at]: a known issuer's prefix and length, and a valid check digit.
std::optional<SecretSpan> card_at(std::string_view text, std::size_t at);
bool may_have_card(std::string_view text);

bool is_luhn_valid(std::string_view digits);

}  // namespace shepherd
