// The part of a found event's text that shows why it was found.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// About 160 bytes of `text` around the first word of the query that occurs in it (else its beginning), cut between
// characters, with … where something was left out.
std::string snippet(std::string_view text, std::string_view query);

}  // namespace shepherd
