#include "redact/redact.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "redact/limits.h"
#include "redact/own_patterns.h"
#include "redact/personal_data.h"
#include "redact/redaction_mark.h"
#include "redact/spelled_text.h"
#include "redact/text_class.h"
#include "redact/text_signs.h"
#include "redact/trigger_scan.h"

namespace shepherd {

struct Redactor::Rules {
  RedactOptions options;
  OwnPatterns own;
  const TriggerScan& scan = TriggerScan::all();

  bool replace_own(std::string& text) const;
  bool replace_built_in(std::string_view text, std::string& out) const;
  bool replace_spelled(std::string& text) const;
  bool may_match_percent(std::string_view text) const;
  bool may_match_joined(std::string_view text) const;
  std::vector<SecretSpan> found_in(const SpelledText& spelled, bool split) const;
};

// Only the text between marks is offered to expressions, which could otherwise match inside a mark for ever.
bool Redactor::Rules::replace_own(std::string& text) const {
  bool changed = false;
  for (std::size_t rule = 0; rule < own.size(); ++rule) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      TextSpan mark = next_mark(text, at);
      changed = own.replace(rule, std::string_view(text).substr(at, mark.begin - at), out) || changed;
      out.append(text, mark.begin, mark.end - mark.begin);
      at = mark.end;
    }
    text = std::move(out);
  }
  return changed;
}

bool Redactor::Rules::replace_built_in(std::string_view text, std::string& out) const {
  std::size_t done = 0;  // everything before it is in `out`
  bool changed = false;
  for (std::size_t at = 0; at < text.size();) {
    std::vector<SecretSpan> pieces;
    char c = text[at];
    auto take = [&](std::optional<SecretSpan> span) {
      if (span) pieces.push_back(*span);
    };
    if (c == '[') {
      if (std::size_t length = mark_at(text, at); length > 0) {
        out.append(text.substr(done, at + length - done));
        done = at += length;
        continue;
      }
    } else if (c == '@') {
      if (options.emails) take(email_at(text, at, done));
    } else if (is_in(c, kDigit)) {
      if (options.cards) take(card_at(text, at));
      // No card begins inside a number, but base64 of a secret may, and may begin with a digit.
      std::size_t end = end_of_run(text, at, kDigit);
      while (pieces.empty() && at < end) {
        pieces = scan.secret_at(text, at, done);
        if (pieces.empty()) ++at;
      }
      if (pieces.empty()) continue;
    } else {
      pieces = scan.secret_at(text, at, done);
    }
    if (pieces.empty()) {
      ++at;
      continue;
    }
    for (const SecretSpan& piece : pieces) {
      out.append(text.substr(done, piece.begin - done));
      append_mark(out, piece.kind, text.substr(piece.begin, piece.end - piece.begin));
      done = at = piece.end;
    }
    changed = true;
  }
  out.append(text.substr(done));
  return changed;
}

namespace {

// Every piece but the first could only be the rest of a token.
bool is_split_token(std::string_view source, const std::vector<TextSpan>& pieces) {
  constexpr std::size_t kLeastRest = 12;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    std::string_view rest = source.substr(pieces[i].begin, pieces[i].end - pieces[i].begin);
    bool plain = std::ranges::all_of(rest, [](char c) { return is_in(c, kWord | kDash); });
    bool digit = std::ranges::any_of(rest, [](char c) { return is_in(c, kDigit); });
    if (rest.size() < kLeastRest || !plain || !digit) return false;
  }
  return pieces.size() > 1;
}

bool replace_spans(std::string& text, const std::vector<SecretSpan>& found) {
  if (found.empty()) return false;
  std::string out;
  std::size_t done = 0;
  for (const SecretSpan& span : found) {
    out.append(text, done, span.begin - done);
    append_mark(out, span.kind, std::string_view(text).substr(span.begin, span.end - span.begin));
    done = span.end;
  }
  text = out.append(text, done);
  return true;
}

}  // namespace

// Where in the source the secrets are that its meaning shows; `split`: only tokens that a line end divides.
std::vector<SecretSpan> Redactor::Rules::found_in(const SpelledText& spelled, bool split) const {
  std::vector<SecretSpan> found;
  std::string_view text = spelled.text;
  for (std::size_t at = 0, done = 0; at < text.size();) {
    std::size_t mark = text[at] == '[' ? mark_at(text, at) : 0;
    std::vector<SecretSpan> pieces = mark == 0 ? scan.secret_at(text, at, done) : std::vector<SecretSpan>{};
    at += std::max<std::size_t>(mark, 1);
    if (mark > 0) done = at;
    for (const SecretSpan& piece : pieces) {
      std::vector<TextSpan> spans = spelled.in_source({piece.begin, piece.end});
      done = at = piece.end;
      if (split && !is_split_token(spelled.source, spans)) continue;
      for (TextSpan span : spans) found.push_back({span.begin, span.end, piece.kind});
    }
  }
  return found;
}

// Neither is false where replace_spelled() would change the text, or a string inside it when it is JSON source.
bool Redactor::Rules::may_match_percent(std::string_view text) const {
  for (TextSpan run = next_percent_run(text, 0); run.begin < text.size(); run = next_percent_run(text, run.end)) {
    // In JSON source a run may go on before or after a \/.
    bool escaped = (run.end < text.size() && text[run.end] == '\\') || (run.begin > 0 && text[run.begin - 1] == '\\');
    if (escaped || scan.may_match(percent_decoded(text, run).text)) return true;
  }
  return false;
}

bool Redactor::Rules::may_match_joined(std::string_view text) const {
  for (TextSpan each = next_joined_lines(text, 0); each.begin < text.size(); each = next_joined_lines(text, each.end)) {
    if (scan.may_match(lines_joined(text, each, true).text)) return true;
  }
  return false;
}

// What the plain look does not see: %XX, and lines that a shell joins.
bool Redactor::Rules::replace_spelled(std::string& text) const {
  std::vector<SecretSpan> found;
  for (TextSpan run = next_percent_run(text, 0); run.begin < text.size(); run = next_percent_run(text, run.end)) {
    for (const SecretSpan& span : found_in(percent_decoded(text, run), false)) found.push_back(span);
  }
  bool changed = replace_spans(text, found);
  // After a # the next line may be a command of its own; but no command looks like the rest of a token.
  for (bool generous : {false, true}) {
    found.clear();
    for (TextSpan each = next_joined_lines(text, 0); each.begin < text.size();
         each = next_joined_lines(text, each.end)) {
      SpelledText joined = lines_joined(text, each, generous);
      if (!scan.may_match(joined.text)) continue;
      for (const SecretSpan& span : found_in(joined, generous)) found.push_back(span);
    }
    changed = replace_spans(text, found) || changed;
  }
  return changed;
}

Redactor::Redactor(std::unique_ptr<Rules> rules) : rules_(std::move(rules)) {}
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

Result<Redactor> Redactor::create(const RedactOptions& options) {
  auto own = OwnPatterns::create(options.patterns, options.secrets);
  if (!own) return fail(own.error());
  return Redactor(std::make_unique<Rules>(options, std::move(*own)));
}

bool Redactor::may_match(std::string_view text) const {
  const auto& rules = *rules_;
  if (!rules.options.enabled) return false;
  if (rules.scan.may_match(text)) return true;
  TextSigns signs = signs_of(text);
  return (rules.options.emails && may_have_email(text)) || (rules.options.cards && signs.card && may_have_card(text)) ||
         rules.own.may_match(text) || rules.may_match_percent(text) || (signs.joint && rules.may_match_joined(text));
}

std::string Redactor::redact(std::string_view text) const {
  std::string current(text);
  if (!rules_->options.enabled) return current;
  for (int round = 0; round < kMaxRedactRounds; ++round) {
    std::string next;
    bool changed = rules_->replace_own(current);
    changed = rules_->replace_built_in(current, next) || changed;
    changed = rules_->replace_spelled(next) || changed;
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
  if (!rules_->options.enabled || mark_at(text, 0) == text.size()) return text;
  std::string_view kind = secret_member_kind(key, text);
  if (kind.empty()) return text;
  std::string mark;
  append_mark(mark, kind, value);
  return mark;
}

}  // namespace shepherd
