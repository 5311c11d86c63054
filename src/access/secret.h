// Secrets: how they are made, written and remembered. Only their SHA-256 is ever kept.
// Threads: value.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"

namespace shepherd {

// Prefixes tell a person (and the redactor) what a found string is.
inline constexpr std::string_view kTokenPrefix = "shp_";
inline constexpr std::string_view kSessionPrefix = "shs_";  // of a browser: good in its cookie alone
inline constexpr std::string_view kTicketPrefix = "sht_";
inline constexpr std::string_view kLoginCodePrefix = "shl_";

// Prefix + 43 characters of base64url, 32 random bytes. `random` must be fit for secrets.
std::string make_secret(std::string_view prefix, Random& random);

// The SHA-256 of a secret. Equality takes the same time wherever the difference is.
struct Digest {
  std::array<unsigned char, 32> bytes{};
  friend bool operator==(const Digest& a, const Digest& b);
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;  // the digest of a random secret is as good as any hash of it
    std::memcpy(&hash, digest.bytes.data(), sizeof hash);
    return hash;
  }
};

// nullopt when the text cannot be a secret with this prefix (length), so that junk costs no hashing.
std::optional<Digest> digest_secret(std::string_view prefix, std::string_view secret);

std::string to_hex(const Digest& digest);
std::optional<Digest> digest_from_hex(std::string_view hex);

}  // namespace shepherd
