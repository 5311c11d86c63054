// Creates, formats and hashes secrets. Only their SHA-256 is ever stored.
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

// The prefixes identify a found string to people and to the redactor.
inline constexpr std::string_view kTokenPrefix = "shp_";
inline constexpr std::string_view kSessionPrefix = "shs_";  // of a browser; valid only in its cookie
inline constexpr std::string_view kTicketPrefix = "sht_";
inline constexpr std::string_view kLoginCodePrefix = "shl_";

// Prefix + 43 characters of base64url, from 32 random bytes. `random` must be suitable for secrets.
std::string make_secret(std::string_view prefix, Random& random);

// The SHA-256 of a secret. Equality takes constant time.
struct Digest {
  std::array<unsigned char, 32> bytes{};
  friend bool operator==(const Digest& a, const Digest& b);
};

struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;  // the digest of a random secret is itself a good hash
    std::memcpy(&hash, digest.bytes.data(), sizeof hash);
    return hash;
  }
};

// Returns nullopt if the text cannot be a secret with this prefix (by its length), so that junk is not hashed.
std::optional<Digest> digest_secret(std::string_view prefix, std::string_view secret);

std::string to_hex(const Digest& digest);
std::optional<Digest> digest_from_hex(std::string_view hex);

}  // namespace shepherd
