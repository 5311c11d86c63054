// The password of `curl -u user:password`, wherever in the command it stands. Other programs' -u is a user and group, a
// branch, an unbuffered stream: only a curl before it on the same line makes it a password.
// Threads: value.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "redact/text_class.h"

namespace shepherd {

// Whether text[at] is in a command that begins with curl: on its line, or on one that goes on after a backslash, and
// not far away. A text that is cut there hides from its second part what it is.
bool in_curl_command(std::string_view text, std::size_t at);

// Both look at what follows an option whose name ends before text[after]; `attached`: its value may follow at once.
// Generous, for JSON source: true when the value could have a user and a password.
bool may_be_user_option(std::string_view text, std::size_t after, bool attached);
// Exact, for decoded text; the option starts at text[at].
std::optional<TextSpan> curl_password(std::string_view text, std::size_t at, std::size_t after, bool attached);

}  // namespace shepherd
