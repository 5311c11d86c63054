#include "model/pem_block.h"

#include "model/text_class.h"

namespace shepherd {
namespace {

constexpr std::size_t kMostArmourBytes = 64;
constexpr std::string_view kPrivateKey = "PRIVATE KEY";
constexpr std::string_view kDashes = "-----";

// Base64, the older header lines ("Proc-Type: 4,ENCRYPTED"), and what tools put before lines they quote.
bool is_material(char c) {
  constexpr std::string_view kOther = "\n\r\t :,-|>#*";
  return is_in(c, kAlnum | kBase64Sign) || kOther.find(c) != std::string_view::npos;
}

// Two characters that stand for a line end inside another string, or the arrow of a numbered listing.
std::size_t quoting_at(std::string_view text, std::size_t at) {
  std::string_view rest = text.substr(at, 6);
  if (rest.starts_with("\\n") || rest.starts_with("\\r") || rest.starts_with("\\t")) return 2;
  if (rest.starts_with("\xE2\x86\x92")) return 3;
  return rest == "\\u2192" ? 6 : 0;
}

// Where the armour line at text[at] ends: after its closing dashes, or after its words when those are cut off.
std::size_t end_of_armour(std::string_view text, std::size_t at) {
  std::size_t words = text.substr(at, kMostArmourBytes).find(kPrivateKey);
  if (words == std::string_view::npos) return words;
  std::string_view label = text.substr(at + kDashes.size(), words - kDashes.size());
  if (label.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") != std::string_view::npos) {
    return std::string_view::npos;
  }
  std::size_t end = at + words + kPrivateKey.size();
  constexpr std::string_view kBlock = " BLOCK";
  if (text.substr(end).starts_with(kBlock)) end += kBlock.size();
  return text.substr(end).starts_with(kDashes) ? end + kDashes.size() : end;
}

}  // namespace

bool is_private_key_armour(std::string_view text, std::size_t at) {
  return end_of_armour(text, at) != std::string_view::npos;
}

std::optional<TextSpan> pem_from_begin(std::string_view text, std::size_t begin) {
  std::size_t at = end_of_armour(text, begin);
  if (at == std::string_view::npos) return std::nullopt;
  while (at < text.size()) {
    if (text[at] == '-' && text.substr(at).starts_with("-----END")) {
      std::size_t end = end_of_armour(text, at);
      return TextSpan{begin, end == std::string_view::npos ? at : end};
    }
    std::size_t quoting = quoting_at(text, at);
    if (quoting == 0 && !is_material(text[at])) break;
    at += quoting == 0 ? 1 : quoting;
  }
  return TextSpan{begin, at};
}

std::optional<TextSpan> pem_to_end(std::string_view text, std::size_t at, std::size_t floor) {
  std::size_t end = end_of_armour(text, at);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > floor) {
    if (begin >= floor + 2 && quoting_at(text, begin - 2) == 2) {
      begin -= 2;
    } else if (begin >= floor + 3 && quoting_at(text, begin - 3) == 3) {
      begin -= 3;
    } else if (begin >= floor + 6 && quoting_at(text, begin - 6) == 6) {
      begin -= 6;
    } else if (is_material(text[begin - 1])) {
      --begin;
    } else {
      break;
    }
  }
  return TextSpan{begin, end};
}

}  // namespace shepherd
