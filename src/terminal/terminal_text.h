// Agent output is hostile: what reaches a terminal must not move its cursor, change its title, hide text or reverse it.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

enum class Lines { keep, join };  // join: line breaks become spaces, for one-line output

// What an agent printed or said: without escape sequences (ESC with its whole payload), control characters,
// bidirectional overrides and invisible characters. C1 controls are written out (\u009b): what follows one stays. Tabs
// become spaces; bad UTF-8 becomes U+FFFD. Plain text comes back unchanged.
std::string terminal_text(std::string_view text, Lines lines);

// What an agent wants to do, for a person who decides about it: nothing is dropped. As visible_text(), with spaces for
// tabs and, joined, \n for line breaks.
std::string exact_text(std::string_view text, Lines lines);

// JSON source with the same characters written as \uXXXX: equal JSON, safe to show.
std::string terminal_json(std::string_view json);

// At most `columns` characters, the last one an ellipsis when something was cut. Counts code points, not glyph widths.
std::string cut_to(std::string_view text, std::size_t columns);
std::size_t character_count(std::string_view text);

}  // namespace shepherd
