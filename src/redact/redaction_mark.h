// The mark that stands where redaction replaced something: `[redacted:password:12]`, its kind and how many characters
// are gone. Logs of older servers have marks without a number; a second redaction leaves both alone.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redact/text_class.h"

namespace shepherd {

// The length of the mark at text[at]; 0 when there is none.
std::size_t mark_at(std::string_view text, std::size_t at);

// The next mark at or after `from`; an empty span at the end of the text when there is no more.
TextSpan next_mark(std::string_view text, std::size_t from);

// Appends the mark for `replaced`. A mark inside it counts as what it stands for.
void append_mark(std::string& out, std::string_view kind, std::string_view replaced);

}  // namespace shepherd
