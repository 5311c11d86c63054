#include "json/tokens.h"

#include <simdjson.h>

#include <algorithm>

#include "base/limits.h"
#include "json/limits.h"

namespace shepherd {
namespace {

constexpr std::size_t kFirstCapacity = 64 * kKiB;
constexpr std::size_t kSafeDigits = 18;  // whole numbers up to this fit into any type

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Passes digits; how many there were.
std::size_t digits(const char*& at, const char* end) {
  const char* begin = at;
  while (at != end && is_digit(*at)) ++at;
  return static_cast<std::size_t>(at - begin);
}

bool fits_a_type(std::string_view number) {
  simdjson::dom::parser parser;
  return parser.parse(simdjson::padded_string(number)).error() == simdjson::SUCCESS;
}

bool is_number(std::string_view token) {
  const char* at = token.data();
  const char* end = at + token.size();
  if (*at == '-') ++at;
  bool zero = at != end && *at == '0';
  std::size_t whole = digits(at, end);
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at != end && *at == '.') {
    ++at;
    if (digits(at, end) == 0) return false;
  }
  bool exponent = at != end && (*at | 0x20) == 'e';
  if (exponent) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (digits(at, end) == 0) return false;
  }
  return at == end && ((whole <= kSafeDigits && !exponent) || fits_a_type(token));
}

std::string_view without_blanks(std::string_view token) {
  std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last + 1);
}

}  // namespace

JsonTokens::JsonTokens() = default;
JsonTokens::~JsonTokens() = default;

bool JsonTokens::read(std::string_view text) {
  if (text.empty()) return false;
  bool oversized = capacity_ > kParserKeepBytes && text.size() <= kParserKeepBytes;
  if (oversized || capacity_ < text.size()) {
    std::size_t wanted = std::max(kFirstCapacity, text.size() + text.size() / 2);
    auto made = simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, first_stage_);
    if (made != simdjson::SUCCESS) return false;
    buffer_ = std::string(wanted + simdjson::SIMDJSON_PADDING, '\0');
    strings_ = buffer_;
    capacity_ = wanted;
  }
  std::memcpy(buffer_.data(), text.data(), text.size());
  size_ = text.size();
  return index();
}

bool JsonTokens::read_compact() {
  std::string blanks = buffer_.substr(0, size_);
  return simdjson::minify(blanks.data(), size_, buffer_.data(), size_) == simdjson::SUCCESS && index();
}

bool JsonTokens::index() {
  // What an earlier text left there must not look like the rest of this one.
  std::memset(buffer_.data() + size_, 0, simdjson::SIMDJSON_PADDING);
  strings_used_ = 0;
  data_ = buffer_.data();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data_);
  if (first_stage_->stage1(bytes, size_, simdjson::stage1_mode::regular) != simdjson::SUCCESS) return false;
  at_ = first_stage_->structural_indexes.get();
  end_ = at_ + first_stage_->n_structural_indexes;  // where the text's own size stands, twice
  blanks_ = *at_ != 0;
  return true;
}

bool JsonTokens::pass_word(char begin) {
  if (at_ == end_) return false;
  std::string_view word = token();
  std::string_view bare = without_blanks(word);
  blanks_ |= bare.size() != word.size();
  ++at_;
  switch (begin) {
    case 't':
      return bare == "true";
    case 'f':
      return bare == "false";
    case 'n':
      return bare == "null";
    default:
      return is_number(bare);
  }
}

bool JsonTokens::unescaped(std::string_view token, std::string_view& text) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(token.data()) + 1;
  auto* to = reinterpret_cast<std::uint8_t*>(strings_.data()) + strings_used_;
  const std::uint8_t* end = first_stage_->parse_string(from, to);
  if (end == nullptr) return false;
  text = {strings_.data() + strings_used_, static_cast<std::size_t>(end - to)};
  strings_used_ += text.size();
  return true;
}

}  // namespace shepherd
