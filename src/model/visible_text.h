// Text that a person decides about: what an agent asks to run is shown with every character of it to be seen. A control
// character, an invisible one and one that changes how its neighbours show are written out (\x1b, \u009d), never
// dropped: what is allowed is what is read.
// Threads: value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shepherd {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};
// The first character of a text that is not empty. Overlong forms, surrogates and broken sequences are invalid, one
// byte at a time.
Utf8Character first_character(std::string_view text);

bool is_control(char32_t code);  // C0, DEL and C1
// Shows nothing, or looks like a plain space and is none, or changes how others show: every character that Unicode
// calls ignorable, directions, blanks beyond ASCII.
bool is_hidden(char32_t code);

// The text with such characters, and bytes that are no UTF-8, written out. Line feeds and tabs stay.
std::string visible_text(std::string_view text);
// One character as visible_text() writes it.
void append_written_out(std::string& out, char32_t code);

}  // namespace shepherd
