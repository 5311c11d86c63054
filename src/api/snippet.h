// The part of an event's text that shows why a search found it.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// About 160 bytes of `text` around the first word of the query that occurs in it (otherwise its beginning), cut between
// characters, with … where text is left out.
std::string snippet(std::string_view text, std::string_view query);

}  // namespace shepherd
