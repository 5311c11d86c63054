// A person's query as an FTS5 expression.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd::search {

// Words (all must match), "quoted phrases", prefix* (two letters or more), a OR b, -word. OR binds closer than the
// implied "and". Every term is quoted, so nothing in it is syntax to FTS5; a term of several tokens (src/auth.go) is a
// phrase of them. What does not fit the language is text: an OR without two sides, a minus with nothing to subtract
// from, an open quote. Empty when the query has no word in it.
std::string fts_expression(std::string_view query);

}  // namespace shepherd::search
