#include "model/redact.h"

#include <algorithm>
#include <utility>

#include "model/limits.h"
#include "model/own_patterns.h"
#include "model/personal_data.h"
#include "model/text_class.h"
#include "model/trigger_scan.h"

namespace shepherd {
namespace {

constexpr std::string_view kMarkerOpen = "[redacted:";
constexpr std::size_t kMostKindBytes = 16;

// The length of the `[redacted:kind]` at text[at]; 0 when there is none.
std::size_t marker_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with(kMarkerOpen)) return 0;
  std::size_t kind = at + kMarkerOpen.size();
  std::size_t end = end_of_run(text, kind, kLower | kUnderscore, kMostKindBytes);
  return end > kind && end < text.size() && text[end] == ']' ? end + 1 - at : 0;
}

// The next marker at or after `from`; its length, 0 when there is no more.
std::pair<std::size_t, std::size_t> next_marker(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(kMarkerOpen, from); at != std::string_view::npos;
       at = text.find(kMarkerOpen, at + 1)) {
    if (std::size_t length = marker_at(text, at); length > 0) return {at, length};
  }
  return {text.size(), 0};
}

void append_marker(std::string& out, std::string_view kind) {
  out.append(kMarkerOpen).append(kind).append("]");
}

}  // namespace

struct Redactor::Rules {
  RedactOptions options;
  OwnPatterns own;
  TriggerScan scan;

  bool replace_own(std::string& text) const;
  bool replace_built_in(std::string_view text, std::string& out) const;
};

// Only the text between markers is offered to expressions, which could otherwise match inside a marker for ever.
bool Redactor::Rules::replace_own(std::string& text) const {
  bool changed = false;
  for (std::size_t rule = 0; rule < own.size(); ++rule) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      auto [marker, length] = next_marker(text, at);
      changed = own.replace(rule, std::string_view(text).substr(at, marker - at), out) || changed;
      out.append(text, marker, length);
      at = marker + length;
    }
    text = std::move(out);
  }
  return changed;
}

bool Redactor::Rules::replace_built_in(std::string_view text, std::string& out) const {
  std::size_t done = 0;  // everything before it is in `out`
  bool changed = false;
  for (std::size_t at = 0; at < text.size();) {
    std::optional<SecretSpan> span;
    char c = text[at];
    if (c == '[') {
      if (std::size_t length = marker_at(text, at); length > 0) {
        out.append(text.substr(done, at + length - done));
        done = at += length;
        continue;
      }
    } else if (c == '@') {
      if (options.emails) span = email_at(text, at, done);
    } else if (is_in(c, kDigit)) {
      if (options.cards) span = card_at(text, at);
      if (!span) {
        at = end_of_run(text, at, kDigit);
        continue;
      }
    } else {
      span = scan.secret_at(text, at, done);
    }
    if (!span) {
      ++at;
      continue;
    }
    out.append(text.substr(done, span->begin - done));
    append_marker(out, span->kind);
    done = at = span->end;
    changed = true;
  }
  out.append(text.substr(done));
  return changed;
}

Redactor::Redactor(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

Result<Redactor> Redactor::create(const RedactOptions& options) {
  auto own = OwnPatterns::create(options.patterns, options.secrets);
  if (!own) return fail(own.error());
  return Redactor(std::make_unique<Rules>(options, std::move(*own), TriggerScan()));
}

bool Redactor::may_match(std::string_view text) const {
  const auto& rules = *rules_;
  if (!rules.options.enabled) return false;
  return rules.scan.may_match(text) || (rules.options.emails && may_have_email(text)) ||
         (rules.options.cards && may_have_card(text)) || rules.own.may_match(text);
}

std::string Redactor::redact(std::string_view text) const {
  std::string current(text);
  if (!rules_->options.enabled) return current;
  for (int round = 0; round < kMaxRedactRounds; ++round) {
    std::string next;
    bool changed = rules_->replace_own(current);
    changed = rules_->replace_built_in(current, next) || changed;
    if (!changed) break;
    current = std::move(next);
  }
  return current;
}

std::size_t Redactor::beginning_of_secret(std::string_view text) const {
  std::size_t longest = 0;
  if (!rules_->options.enabled) return longest;
  for (std::string_view secret : rules_->options.secrets) {
    if (secret.size() < kMinSecretBytes) continue;
    std::size_t from = text.size() - std::min(text.size(), secret.size() - 1);
    for (std::size_t at = text.find(secret[0], from); at != std::string_view::npos; at = text.find(secret[0], at + 1)) {
      if (!secret.starts_with(text.substr(at))) continue;
      longest = std::max(longest, text.size() - at);
      break;
    }
  }
  return longest;
}

std::string Redactor::redact_member(std::string_view key, std::string_view value) const {
  std::string text = redact(value);
  if (!rules_->options.enabled || marker_at(text, 0) == text.size()) return text;
  std::string_view kind = secret_member_kind(key, text);
  if (kind.empty()) return text;
  std::string marker;
  append_marker(marker, kind);
  return marker;
}

}  // namespace shepherd
