// `password=…`, `"api_key": "…"`, `--token …`, `login joe password …`: a telling name, a separator, a value that looks
// made rather than written.
// Threads: value.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "redact/text_class.h"

namespace shepherd {

// The plausible secret value that follows a name which stands at text[name, after_name).
std::optional<TextSpan> assigned_value(std::string_view text, std::size_t name, std::size_t after_name,
                                       bool is_password);

// A separator follows the name, in decoded text or in JSON source; or only a blank, where that separates.
bool may_be_assignment(std::string_view text, std::size_t name, std::size_t after_name, bool is_password);

// What can come first after the name of one: the separator, or what stands between.
bool may_follow_name(char c);

// A password needs 6 characters, other secrets 8, and something that words do not have.
bool is_plausible_value(std::string_view value, bool is_password);

}  // namespace shepherd
