// Exact secret values in the forms they travel in: as they are, JSON-escaped, URL-encoded, in base64 at any alignment.
// Threads: value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

// The forms of one value, longest first, each at least kMinSecretBytes long; none for a shorter value, which would be
// found everywhere.
std::vector<std::string> secret_forms(std::string_view value);

// The longest part of `literal` that any JSON spelling of it shows unchanged (short of \u00XX escapes).
std::string_view unescaped_part(std::string_view literal);

}  // namespace shepherd
