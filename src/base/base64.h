// Base64, for secrets that travel encoded.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

// Standard alphabet, padding optional; nullopt if any character is invalid.
std::optional<std::string> decode_base64(std::string_view text);

// Standard alphabet, without padding.
std::string encode_base64(std::string_view bytes);

// The same with the alphabet for URLs: - and _ instead of + and /.
std::optional<std::string> decode_base64url(std::string_view text);
std::string encode_base64url(std::string_view bytes);

}  // namespace shepherd
