#include "outbound/callback_message.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/assert.h"
#include "base/base64.h"
#include "json/scan.h"
#include "json/write.h"

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

// With padding, which the libraries of receivers require.
std::string padded_base64(std::string_view bytes) {
  std::string text = encode_base64(bytes);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string_view details_of(std::string_view event) {
  return find_member(find_member(event, "data"), "details");
}

// Appends the reporter's own members, except those in `ours`.
void append_details(JsonObject& details, std::string_view reported, std::span<const std::string_view> ours) {
  for (JsonMembers members(reported); members.next();) {
    std::string key = unescape(members.key()).value_or("");
    if (std::ranges::find(ours, key) == ours.end()) details.json(key, members.value());
  }
}

}  // namespace

std::string callback_event(std::string_view event, bool started_before) {
  std::string_view data = find_member(event, "data");
  std::string named = string_value(find_member(data, "event")).value_or("");
  if (named == "started" || named == "progress") return named;
  bool runs = string_value(find_member(data, "state")) == std::string(name(State::running));
  return named.empty() && runs && !started_before ? "started" : "";
}

CallbackMessage callback_report(const TaskRow& task, std::uint64_t sequence, std::string_view event) {
  CallbackMessage message;
  message.id = task.spec.id + "." + std::to_string(task.created_ms) + "." + std::to_string(sequence);
  std::string_view data = find_member(event, "data");
  std::string pr_url = string_value(find_member(data, "prURL")).value_or("");
  write_object(message.body, [&](JsonObject& object) {
    object.text("taskID", task.spec.id);
    object.text("event", callback_event(event, false));
    std::string summary = string_value(find_member(event, "summary")).value_or("");
    object.text("message", string_value(find_member(data, "message")).value_or(summary));
    write_object(object.member("details"), [&](JsonObject& details) {
      constexpr std::array<std::string_view, 3> kOurs{"prURL", "pr_url", "lastSequence"};
      append_details(details, details_of(event), kOurs);
      details.text_unless_empty("prURL", pr_url);
      details.text_unless_empty("pr_url", pr_url);
      details.number("lastSequence", sequence);
    });
  });
  return message;
}

CallbackMessage callback_message(const TaskRow& task, std::string_view event) {
  const TaskState& state = task.state;
  CallbackMessage message;
  message.id = task.spec.id + "." + std::to_string(task.created_ms);
  write_object(message.body, [&](JsonObject& object) {
    object.text("taskID", task.spec.id);
    object.text("event", state.state == State::completed ? "completed" : "failed");
    object.text("message", state.message);
    write_object(object.member("details"), [&](JsonObject& details) {
      constexpr std::array<std::string_view, 7> kOurs{"state", "reason",  "prURL",       "pr_url",
                                                      "error", "costUSD", "lastSequence"};
      append_details(details, details_of(event), kOurs);
      details.text("state", name(state.state));
      bool other = state.state == State::timed_out || state.state == State::cancelled;
      if (other) details.text("reason", name(state.state));
      details.text("prURL", state.pr_url);
      details.text("pr_url", state.pr_url);  // the name that older receivers read
      details.text("error", state.error);
      details.number("costUSD", state.usage.cost_usd);
      details.number("lastSequence", state.last_sequence);
    });
  });
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
