#include "redact/encoded_secret.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>

#include "base/base64.h"
#include "redact/spelled_text.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kLeastCore = 4;          // characters that tell; fewer are in every text
constexpr std::size_t kTellingCore = 5;        // shorter ones count at the beginning of the base64 alone
constexpr std::size_t kGroupsBefore = 4;       // of the trigger are decoded too: what it follows may matter
constexpr std::size_t kFirstBytes = 64;        // after the trigger are decoded at first, unless its shape needs more
constexpr std::size_t kLeastEncodedLine = 56;  // a shorter line of base64 does not go on in the next
constexpr std::size_t kMayGoOn = 256;          // bytes between two parts of a secret: the headers of a key
constexpr std::size_t kMostDoublings = 12;

// The value of a character of base64 in either alphabet; -1: none.
int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

struct Sextets {
  std::vector<std::uint8_t> values;
  std::vector<std::uint32_t> at;  // of each in the text
  bool cut = false;               // the base64 goes on
};

// Where the next character is when the base64 goes on in a new line; `at` when it does not.
std::size_t next_line(std::string_view text, std::size_t at, std::size_t in_line) {
  if (in_line < kLeastEncodedLine) return at;
  std::size_t next = at;
  for (const char* end : {"\rr", "\nn"}) {  // as it is, or as the letter after backslashes
    std::size_t escape = count_backslashes(text, next);
    if (text.substr(next + escape).starts_with(end[escape > 0 ? 1 : 0])) next += escape + 1;
  }
  return next > at && next < text.size() && sextet(text[next]) >= 0 ? next : at;
}

Sextets read_sextets(std::string_view text, std::size_t at, std::size_t most) {
  Sextets out;
  std::size_t in_line = 0;
  while (at < text.size()) {
    std::size_t escape = text[at] == '\\' ? count_backslashes(text, at) : 0;
    if (escape > 0 && text.substr(at + escape).starts_with('/')) at += escape;
    int value = sextet(text[at]);
    if (value < 0) {
      std::size_t line = next_line(text, at, in_line);
      if (line == at) break;
      at = line;
      in_line = 0;
      continue;
    }
    if (out.values.size() == most) {
      out.cut = true;
      break;
    }
    out.values.push_back(static_cast<std::uint8_t>(value));
    out.at.push_back(static_cast<std::uint32_t>(at));
    ++in_line;
    ++at;
  }
  return out;
}

SpelledText decoded(const Sextets& sextets) {
  SpelledText out;
  for (std::size_t i = 0; i + 1 < sextets.values.size(); ++i) {
    unsigned first = sextets.values[i];
    unsigned second = sextets.values[i + 1];
    std::size_t phase = i % 4;
    if (phase == 3) continue;
    unsigned byte = phase == 0 ? first << 2 | second >> 4 : phase == 1 ? first << 4 | second >> 2 : first << 6 | second;
    out.add(static_cast<char>(byte & 0xFF), sextets.at[i], sextets.at[i + 1] + 1);
  }
  return out;
}

// How many characters tell whether there is a secret at all.
std::size_t first_look(const Trigger& inner, std::size_t offset) {
  std::size_t needed = inner.literal.size() + inner.least + inner.second + 1;
  return (offset + std::max(needed, kFirstBytes)) / 3 * 4 + 8;
}

bool may_be_encoded(const Trigger& trigger) {
  return trigger.shape != Shape::jwt && trigger.shape != Shape::escape && trigger.shape != Shape::pem_end &&
         trigger.shape != Shape::encoded && trigger.literal.find('\\') == std::string_view::npos;
}

}  // namespace

std::vector<Trigger> encoded_triggers(std::span<const Trigger> triggers) {
  static std::deque<std::string> kept;  // literals
  static std::deque<Trigger> inner;
  std::vector<Trigger> out;
  // `lead` bytes of the literal stand before the trigger's own.
  auto add = [&](const Trigger& plain, std::string_view literal, std::size_t lead) {
    inner.push_back(plain);
    for (std::size_t before = 0; before < 3; ++before) {
      std::string encoded = encode_base64(std::string(before, '\0').append(literal));
      std::size_t skip = (before * 8 + 5) / 6;
      std::size_t end = (before + literal.size()) * 8 / 6;
      std::string core = encoded.substr(skip, end - skip);
      // Either alphabet, and slashes spelled \/: only letters and digits are always the same.
      std::size_t sign = std::min(core.find_first_of("+/"), core.size());
      core.resize(sign);
      bool first = before + lead == 0;
      if (core.size() < kLeastCore || (core.size() < kTellingCore && !first)) continue;
      kept.push_back(std::move(core));
      Trigger trigger;
      trigger.literal = kept.back();
      trigger.shape = Shape::encoded;
      trigger.kind = plain.kind;
      trigger.inner = &inner.back();
      trigger.skip = static_cast<std::uint8_t>(skip);
      trigger.before = static_cast<std::uint8_t>(before + lead);
      trigger.at_start = kept.back().size() < kTellingCore;
      out.push_back(trigger);
    }
  };
  for (const Trigger& plain : triggers) {
    if (!may_be_encoded(plain)) continue;
    if (plain.shape == Shape::assignment) {  // in the letter cases that people use
      std::string upper(plain.literal);
      std::string title(plain.literal);
      for (char& c : upper) c = is_in(c, kLower) ? static_cast<char>(c & ~0x20) : c;
      title[0] = upper[0];
      add(plain, upper, 0);
      add(plain, title, 0);
    }
    if (plain.shape == Shape::url_password) {  // after the last letter of http, https, postgresql, mongodb, amqp, …
      for (const char* literal : {"s://", "p://", "l://", "b://"}) add(plain, literal, 1);
      continue;
    }
    add(plain, plain.literal, 0);
  }
  return out;
}

std::vector<SecretSpan> encoded_secret(const Trigger& trigger, std::string_view text, std::size_t at,
                                       std::size_t floor) {
  std::size_t begin = at;
  for (std::size_t i = 0; i < trigger.skip; ++i) {
    if (begin <= floor || sextet(text[begin - 1]) < 0) return {};
    --begin;
    while (text[begin] == '/' && begin > floor && text[begin - 1] == '\\' && i + 1 < trigger.skip) --begin;
  }
  if (trigger.at_start && begin > 0 && sextet(text[begin - 1]) >= 0) return {};
  std::size_t offset = trigger.before;
  auto is_group = [&](std::size_t group) {
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(group),
                       text.begin() + static_cast<std::ptrdiff_t>(group) + 4, [](char c) { return sextet(c) >= 0; });
  };
  for (std::size_t i = 0; i < kGroupsBefore && begin >= floor + 4 && is_group(begin - 4); ++i) {
    begin -= 4;
    offset += 3;
  }
  std::size_t most = first_look(*trigger.inner, offset);
  for (std::size_t tries = 0; tries < kMostDoublings; ++tries, most *= 2) {
    Sextets sextets = read_sextets(text, begin, most);
    SpelledText plain = decoded(sextets);
    if (plain.text.size() <= offset || !starts_with_trigger(*trigger.inner, plain.text, offset)) return {};
    std::vector<SecretSpan> found = secret_at(*trigger.inner, plain.text, offset, 0);
    // What ends near the end of what was decoded may be longer.
    bool more = sextets.cut && !found.empty() && found.back().end + kMayGoOn >= plain.text.size();
    if (more) continue;
    std::vector<SecretSpan> out;
    for (const SecretSpan& secret : found) {
      for (TextSpan piece : plain.in_source({secret.begin, secret.end})) {
        bool joins = !out.empty() && piece.begin <= out.back().end;
        if (joins) {
          out.back().end = std::max(out.back().end, piece.end);
        } else {
          out.push_back({piece.begin, piece.end, secret.kind});
        }
      }
    }
    return out;
  }
  return {};
}

}  // namespace shepherd
