// Secrets in base64: a trigger has three other spellings, by where it falls into a group of three bytes.
// Threads: value.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "redact/secret_shapes.h"

namespace shepherd {

// The spellings of the triggers that have a telling one. They live as long as the program, as the triggers must.
std::vector<Trigger> encoded_triggers(std::span<const Trigger> triggers);

// What secret_at() finds when the base64 around text[at] is decoded, in pieces without the line ends between them.
std::vector<SecretSpan> encoded_secret(const Trigger& trigger, std::string_view text, std::size_t at,
                                       std::size_t floor);

}  // namespace shepherd
