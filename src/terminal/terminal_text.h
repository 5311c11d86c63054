// Agent output is hostile: text sent to a terminal must not move its cursor, change its title, or hide or reverse text.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

enum class Lines { keep, join };  // join: line breaks become spaces, for one-line output

// An agent's output without escape sequences (ESC with its whole payload), control characters, bidirectional overrides
// and invisible characters. C1 controls are escaped (\u009b) and the text after them stays. Tabs become spaces; bad
// UTF-8 becomes U+FFFD. Plain text is returned unchanged.
std::string terminal_text(std::string_view text, Lines lines);

// An agent's request that a person decides about; nothing is dropped. Like visible_text(), with spaces for tabs and, if
// joined, \n for line breaks.
std::string exact_text(std::string_view text, Lines lines);

// The JSON source with those characters written as \uXXXX: equal JSON that is safe to show.
std::string terminal_json(std::string_view json);

// At most `columns` characters; if something was cut, the last one is an ellipsis. Counts code points, not glyph
// widths.
std::string cut_to(std::string_view text, std::size_t columns);
std::size_t character_count(std::string_view text);

}  // namespace shepherd
