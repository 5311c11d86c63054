#include "steering/callback_message.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/assert.h"
#include "model/base64.h"
#include "model/json_write.h"

namespace shepherd {
namespace {

constexpr std::string_view kSecretPrefix = "whsec_";

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  bool made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), digest.data(), &size) != nullptr;
  SHEPHERD_ASSERT(made, "OpenSSL must offer HMAC-SHA256");
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (unsigned char byte : bytes) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

// With padding, which receivers' libraries insist on.
std::string padded_base64(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace

CallbackMessage callback_message(const Task& task) {
  const TaskState& state = task.state;
  CallbackMessage message;
  message.id = task.spec.id + "." + std::to_string(task.created_ms);
  {
    JsonObject object(message.body);
    object.text("taskID", task.spec.id);
    object.text("event", state.state == State::completed ? "completed" : "failed");
    object.text("message", state.message);
    JsonObject details(object.member("details"));
    details.text("state", name(state.state));
    bool other = state.state == State::timed_out || state.state == State::cancelled;
    if (other) details.text("reason", name(state.state));
    details.text("prURL", state.pr_url);
    details.text("pr_url", state.pr_url);  // as older receivers read it
    details.text("error", state.error);
    details.number("costUSD", state.usage.cost_usd);
    details.number("lastSequence", state.last_sequence);
  }
  return message;
}

std::string callback_key(std::string_view secret) {
  if (secret.starts_with(kSecretPrefix)) {
    if (auto key = decode_base64(secret.substr(kSecretPrefix.size()))) return *key;
  }
  return std::string(secret);
}

net::HeaderList callback_headers(const CallbackMessage& message, std::string_view key, std::int64_t now_ms) {
  std::string timestamp = std::to_string(now_ms / 1'000);
  std::string signed_text = message.id + "." + timestamp + "." + message.body;
  return {{"Content-Type", "application/json"},
          {"User-Agent", "shepherd"},
          {"X-Shepherd-Signature", "sha256=" + hex(hmac_sha256(key, message.body))},
          {"webhook-id", message.id},
          {"webhook-timestamp", timestamp},
          {"webhook-signature", "v1," + padded_base64(hmac_sha256(key, signed_text))}};
}

}  // namespace shepherd
