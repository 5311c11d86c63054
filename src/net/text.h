// Small rules for protocol text: tokens, case, UTF-8.
// Threads: value.
#pragma once

#include <string_view>

namespace shepherd::net {

inline char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// RFC 9110 token characters, for methods and header names.
bool is_token_char(char c);
// Allowed in a header's value: visible ASCII, space, tab, and bytes above ASCII.
bool is_field_char(char c);
bool equals_ignoring_case(std::string_view text, std::string_view lower);
// Whether a comma-separated header value has this member.
bool has_list_member(std::string_view list, std::string_view lower);
std::string_view trim_blanks(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace shepherd::net
