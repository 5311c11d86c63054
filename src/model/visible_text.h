// Makes every character visible in a text that a person must decide about, such as a command an agent wants to run.
// Control characters, invisible characters and characters that change how their neighbours look are escaped (\x1b,
// \u009d), never dropped, so that people approve exactly what they read.
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
// The first character of a non-empty text. Overlong forms, surrogates and broken sequences are invalid, one byte at a
// time.
Utf8Character first_character(std::string_view text);

bool is_control(char32_t code);  // C0, DEL and C1
// Whether the character is invisible, looks like a plain space, or changes how others look: Unicode's ignorable
// characters, direction marks and spaces beyond ASCII.
bool is_hidden(char32_t code);

// The text with such characters, and bytes that are not UTF-8, escaped. Line feeds and tabs stay.
std::string visible_text(std::string_view text);
// Appends one character in the escaped form of visible_text().
void append_written_out(std::string& out, char32_t code);

}  // namespace shepherd
