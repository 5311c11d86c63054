// Escapes in JSON text: whether they are right, and what to do about the one kind of wrong that programs really print.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

// Of text whose strings end where they should: every escape in it is one.
bool has_good_escapes(std::string_view json);

// Escapes of half a surrogate pair (\ud83d alone), which programs that cut text by UTF-16 units print and JSON readers
// refuse, replaced by \ufffd. nullopt when there is none.
std::optional<std::string> without_lone_surrogates(std::string_view json);

}  // namespace shepherd
