// What a request's Accept-Encoding takes (RFC 9110, 12.5.3).
// Threads: value.
#pragma once

#include <string_view>

namespace shepherd {

// Whether a list such as "gzip, br;q=0.8, *;q=0" takes this coding. Names know no case; a weight of 0 says no; "*" is
// for what is not named; an empty list takes nothing.
bool takes_coding(std::string_view accept_encoding, std::string_view coding);

}  // namespace shepherd
