// Escapes in JSON strings: whether they are right, the text they stand for, and what to do about the one kind of wrong
// escape that programs really print.
// Threads: value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

// The length of the escape at the backslash that `json` begins with, a surrogate pair being one; 0 when JSON has no
// such escape. Half a pair is none.
std::size_t escape_length(std::string_view json);

// The text inside a JSON string's quotes with escapes resolved. Lone surrogates become U+FFFD, which the validating
// parser lets through; nullopt for an escape that JSON does not have.
std::optional<std::string> unescape(std::string_view escaped);

// The same, written to memory that has room for the escaped text and one kBlock more. The end of the text; nullptr for
// an escape that JSON does not have.
char* unescape_to(char* to, std::string_view escaped);

// Escapes of half a surrogate pair (\ud83d alone), which programs that cut text by UTF-16 units print and JSON readers
// refuse, replaced by \ufffd. nullopt when there is none.
std::optional<std::string> without_lone_surrogates(std::string_view json);

}  // namespace shepherd
