#include "redact/redacted_name.h"

#include <openssl/evp.h>

#include <array>

#include "base/assert.h"

namespace shepherd {
namespace {

constexpr std::size_t kStandInBytes = 16;  // of a hash: no two names share one by chance

}  // namespace

std::string redacted_name(std::string_view name, const Redactor* redactor) {
  if (redactor == nullptr || !redactor->may_match(name) || redactor->redact(name) == name) return std::string(name);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  bool made = EVP_Digest(name.data(), name.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1;
  SHEPHERD_ASSERT(made, "OpenSSL must offer SHA-256");
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "redacted:";
  for (std::size_t i = 0; i < kStandInBytes; ++i) out.append({kHex[digest[i] >> 4], kHex[digest[i] & 15]});
  return out;
}

}  // namespace shepherd
