// Translates a person's query into an FTS5 expression.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd::search {

// Words (all must match), "quoted phrases", prefix* (two letters or more), a OR b, -word. OR binds closer than the
// implied "and". Every term is quoted, so it cannot contain FTS5 syntax; a term of several tokens (src/auth.go) becomes
// a phrase. Anything that does not fit the syntax is text: an OR without two sides, a minus with nothing to subtract
// from, an open quote. The result is empty if the query contains no word.
std::string fts_expression(std::string_view query);

}  // namespace shepherd::search
