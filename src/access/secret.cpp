#include "access/secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <memory>

#include "base/assert.h"
#include "base/base64.h"

namespace shepherd {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretCharacters = 43;
constexpr std::size_t kPrefixCharacters = 4;

// Fetching the algorithm and allocating a context cost more than hashing such a short text, so both are kept.
Digest sha256(std::string_view text) {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  Digest digest;
  bool ok = EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
            EVP_DigestUpdate(context.get(), text.data(), text.size()) == 1 &&
            EVP_DigestFinal_ex(context.get(), digest.bytes.data(), nullptr) == 1;
  SHEPHERD_ASSERT(ok, "OpenSSL must offer SHA-256");
  return digest;
}

int hex_value(char c) {
  std::size_t at = kHex.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

bool operator==(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

std::string make_secret(std::string_view prefix, Random& random) {
  SHEPHERD_ASSERT(prefix.size() == kPrefixCharacters, "digest_secret relies on the length");
  std::array<char, kSecretBytes> bytes{};
  for (std::size_t i = 0; i < kSecretBytes; i += 8) {
    std::uint64_t word = random.next();
    std::memcpy(&bytes[i], &word, sizeof word);
  }
  std::string out = std::string(prefix) + encode_base64url({bytes.data(), bytes.size()});
  SHEPHERD_ASSERT(out.size() == kPrefixCharacters + kSecretCharacters, "digest_secret relies on the length");
  return out;
}

std::optional<Digest> digest_secret(std::string_view prefix, std::string_view secret) {
  if (secret.size() != kPrefixCharacters + kSecretCharacters || !secret.starts_with(prefix)) return std::nullopt;
  return sha256(secret);
}

std::string to_hex(const Digest& digest) {
  std::string out;
  for (unsigned char byte : digest.bytes) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

std::optional<Digest> digest_from_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    int high = hex_value(hex[2 * i]);
    int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest.bytes[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return digest;
}

}  // namespace shepherd
