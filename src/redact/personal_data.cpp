#include "redact/personal_data.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "redact/text_class.h"

namespace shepherd {
namespace {

// --- e-mail ---

constexpr std::size_t kMostLocalBytes = 64;
constexpr std::size_t kMostDomainBytes = 253;

bool is_local(char c) {
  return is_in(c, kAlnum | kUnderscore | kDash) || c == '.' || c == '%' || c == '+';
}

// The end of the domain name that starts at text[at]: labels with dots, the last one letters; `at` when it is none.
std::size_t end_of_domain(std::string_view text, std::size_t at) {
  std::size_t end = at;
  std::size_t far = std::min(text.size(), at + kMostDomainBytes);
  while (end < far && (is_in(text[end], kAlnum | kDash) || text[end] == '.')) ++end;
  std::string_view name = text.substr(at, end - at);
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.remove_suffix(1);
  std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find("..") != std::string_view::npos) return at;
  std::string_view top = name.substr(dot + 1);
  bool letters = std::all_of(top.begin(), top.end(), [](char c) { return is_in(c, kLower | kUpper); });
  if (top.size() < 2 || top.size() > 24 || !letters) return at;
  std::string_view first = name.substr(0, name.find('.'));
  bool version = std::all_of(first.begin(), first.end(), [](char c) { return is_in(c, kDigit); });
  bool scale = first.size() == 2 && is_in(first[0], kDigit) && first[1] == 'x';
  return version || scale || !is_in(first.front(), kAlnum) ? at : at + name.size();
}

// Text inside another string: the letter of an escape (\n, \u000a) before an address is not part of it.
std::size_t after_escape(std::string_view text, std::size_t begin, std::size_t at) {
  constexpr std::string_view kLetters = "nrtbf";
  if (begin == 0 || text[begin - 1] != '\\') return begin;
  if (kLetters.find(text[begin]) != std::string_view::npos) return begin + 1;
  return text[begin] == 'u' ? std::min(at, begin + 5) : begin;
}

bool is_role(std::string_view local) {
  constexpr std::array<std::string_view, 4> kRoles{"git", "noreply", "no-reply", "donotreply"};
  return std::find(kRoles.begin(), kRoles.end(), local) != kRoles.end();
}

// --- cards ---

struct Issuer {
  int low, high;  // range of the first four digits
  unsigned lengths;
};
constexpr unsigned digits(std::initializer_list<int> lengths) {
  unsigned mask = 0;
  for (int length : lengths) mask |= 1U << length;
  return mask;
}
constexpr std::array<Issuer, 12> kIssuers{{
    {4000, 4999, digits({13, 16, 19})},              // Visa
    {5100, 5599, digits({16})},                      // Mastercard
    {2221, 2720, digits({16})},                      // Mastercard
    {3400, 3499, digits({15})},                      // American Express
    {3700, 3799, digits({15})},                      // American Express
    {6011, 6011, digits({16, 17, 18, 19})},          // Discover
    {6440, 6599, digits({16, 17, 18, 19})},          // Discover
    {3528, 3589, digits({16, 17, 18, 19})},          // JCB
    {3000, 3059, digits({14, 15, 16, 17, 18, 19})},  // Diners Club
    {3600, 3699, digits({14, 15, 16, 17, 18, 19})},  // Diners Club
    {3800, 3999, digits({14, 15, 16, 17, 18, 19})},  // Diners Club
    {6200, 6299, digits({16, 17, 18, 19})},          // UnionPay
}};
constexpr std::size_t kLeastCardDigits = 13;
constexpr std::size_t kMostCardDigits = 19;

bool is_digit(char c) {
  return is_in(c, kDigit);
}

bool is_card(std::string_view number) {
  int first = 0;
  for (char c : number.substr(0, 4)) first = first * 10 + (c - '0');
  for (const auto& issuer : kIssuers) {
    if (first >= issuer.low && first <= issuer.high && (issuer.lengths >> number.size() & 1) != 0) {
      return is_luhn_valid(number);
    }
  }
  return false;
}

// Four digits in a row somewhere in eight bytes.
bool has_four_digits(const char* eight_bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101ULL;
  std::uint64_t word = 0;
  std::memcpy(&word, eight_bytes, 8);
  std::uint64_t value = word ^ kEach * '0';  // a digit is now below ten
  std::uint64_t other = (((value & kEach * 0x7F) + kEach * 0x76) | value) & kEach * 0x80;
  std::uint64_t digit = other ^ kEach * 0x80;
  return (digit & digit >> 8 & digit >> 16 & digit >> 24) != 0;
}

struct DigitSpan {
  std::size_t end = 0;
  std::size_t digits = 0;
  bool may_be_card = false;
};

// The digits at text[at], single blanks and dashes between them included.
DigitSpan digits_around(std::string_view text, std::size_t at) {
  constexpr std::string_view kFirst = "23456";  // of all issuers
  std::size_t begin = at;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  DigitSpan span{begin, 0, kFirst.find(text[begin]) != std::string_view::npos};
  for (; span.end < text.size(); ++span.end) {
    char c = text[span.end];
    bool separates = (c == ' ' || c == '-') && span.end + 1 < text.size() && is_digit(text[span.end + 1]);
    if (!separates && !is_digit(c)) break;
    span.digits += separates ? 0 : 1;
    span.may_be_card = span.may_be_card || separates;
  }
  // In JSON source the last digits of a \uXXXX may stand before the number.
  std::string_view before = text.substr(begin - std::min<std::size_t>(begin, 6), std::min<std::size_t>(begin, 6));
  span.may_be_card = span.may_be_card || before.find('\\') != std::string_view::npos;
  return span;
}

bool ends_number(std::string_view text, std::size_t at) {
  if (at >= text.size()) return true;
  if (is_in(text[at], kWord)) return false;
  bool goes_on = text[at] == '.' || text[at] == '-';
  return !goes_on || at + 1 >= text.size() || !is_in(text[at + 1], kWord);
}

}  // namespace

std::optional<SecretSpan> email_at(std::string_view text, std::size_t at, std::size_t floor) {
  std::size_t begin = at;
  std::size_t far = std::max(floor, at > kMostLocalBytes ? at - kMostLocalBytes : 0);
  while (begin > far && is_local(text[begin - 1])) --begin;
  begin = after_escape(text, begin, at);
  while (begin < at && (text[begin] == '.' || text[begin] == '-' || text[begin] == '%')) ++begin;
  std::size_t end = begin < at ? end_of_domain(text, at + 1) : at + 1;
  if (end == at + 1 || is_role(text.substr(begin, at - begin))) return std::nullopt;
  return SecretSpan{begin, end, "email"};
}

bool may_have_email(std::string_view text) {
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    if (at > 0 && is_local(text[at - 1]) && email_at(text, at, 0)) return true;
  }
  return false;
}

std::optional<SecretSpan> card_at(std::string_view text, std::size_t at) {
  if (!at_word_start(text, at) || (at > 0 && (text[at - 1] == '.' || text[at - 1] == '-'))) return std::nullopt;
  // Either one block, or 4-4-4-4(-3) or 4-6-5 with one kind of separator.
  std::string number;
  char separator = 0;
  std::size_t group = at;
  std::size_t longest = 0;
  for (int groups = 1; groups <= 5; ++groups) {
    std::size_t end = group;
    while (end < text.size() && is_digit(text[end]) && end - group <= kMostCardDigits) ++end;
    number.append(text.substr(group, end - group));
    if (number.size() > kMostCardDigits) break;
    if (number.size() >= kLeastCardDigits && ends_number(text, end) && is_card(number)) longest = end;
    bool regular = end - group == 4 || (groups == 2 && end - group == 6);
    if (!regular || end + 1 >= text.size() || !is_digit(text[end + 1])) break;
    if (separator == 0 && (text[end] == ' ' || text[end] == '-')) separator = text[end];
    if (separator == 0 || text[end] != separator) break;
    group = end + 1;
  }
  if (longest == 0) return std::nullopt;
  return SecretSpan{at, longest, "card"};
}

bool may_have_card(std::string_view text) {
  // Any card has four digits in a row, and windows of eight bytes that overlap by three show every such four.
  constexpr std::size_t kStep = 5;
  std::size_t at = 0;
  while (at < text.size()) {
    if (at + 8 <= text.size() && !has_four_digits(text.data() + at)) {
      at += kStep;
      continue;
    }
    std::size_t window = std::min(text.size(), at + 8);
    while (at < window && !is_digit(text[at])) ++at;
    if (at == window) continue;
    DigitSpan span = digits_around(text, at);
    if (span.digits >= kLeastCardDigits && span.may_be_card) return true;
    at = span.end;
  }
  return false;
}

bool is_luhn_valid(std::string_view digits) {
  int sum = 0;
  bool twice = false;
  for (std::size_t i = digits.size(); i-- > 0; twice = !twice) {
    int digit = digits[i] - '0';
    if (twice) digit = digit < 5 ? digit * 2 : digit * 2 - 9;
    sum += digit;
  }
  return !digits.empty() && sum % 10 == 0;
}

}  // namespace shepherd
