#include "net/websocket_handshake.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "net/text.h"

namespace shepherd::net {

namespace {

// 16 bytes in base 64: 22 digits and two signs of padding.
bool is_key(std::string_view key) {
  if (key.size() != 24 || !key.ends_with("==")) return false;
  return std::ranges::all_of(key.substr(0, 22), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/';
  });
}

}  // namespace

UpgradeCheck check_upgrade(const Request& request, bool http10) {
  bool upgrade = false;
  bool connection = false;
  int keys = 0;
  std::string_view key;
  std::string_view version;
  for (const auto& [name, value] : request.headers) {
    if (name == "upgrade") upgrade |= has_list_member(value, "websocket");
    if (name == "connection") connection |= has_list_member(value, "upgrade");
    if (name == "sec-websocket-version") version = value;
    if (name == "sec-websocket-key") {
      key = value;
      ++keys;
    }
  }
  if (!upgrade || !connection) return UpgradeCheck::none;
  if (http10 || request.method != "GET" || keys != 1 || !is_key(key)) return UpgradeCheck::malformed;
  return version == "13" ? UpgradeCheck::valid : UpgradeCheck::wrong_version;
}

std::string websocket_accept(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, 1.3
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int digest_bytes = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &digest_bytes, EVP_sha1(), nullptr);
  std::array<unsigned char, 64> encoded{};
  int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(digest_bytes));
  return {reinterpret_cast<const char*>(encoded.data()), static_cast<std::size_t>(length)};
}

}  // namespace shepherd::net
