// Reads a request's Accept-Encoding (RFC 9110, 12.5.3).
// Threads: value.
#pragma once

#include <string_view>

namespace shepherd {

// Whether a list such as "gzip, br;q=0.8, *;q=0" accepts this coding. Names are case-insensitive, a weight of 0
// refuses, "*" stands for codings that are not named, and an empty list accepts nothing.
bool takes_coding(std::string_view accept_encoding, std::string_view coding);

}  // namespace shepherd
