#include "journal/cursor.h"

#include <limits>

namespace shepherd {
namespace {

constexpr char kVersion = 'p';
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint64_t kMaxPosition = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxDigits = 11;  // 66 bits

}  // namespace

void append_cursor(std::string& out, std::uint64_t position) {
  char digits[kMaxDigits];
  std::size_t begin = kMaxDigits;
  do {
    digits[--begin] = kDigits[position & 63];
    position >>= 6;
  } while (position != 0);
  out += kVersion;
  out.append(digits + begin, kMaxDigits - begin);
}

std::string encode_cursor(std::uint64_t position) {
  std::string out;
  append_cursor(out, position);
  return out;
}

Result<std::uint64_t> decode_cursor(std::string_view text) {
  auto bad = [] {
    return fail(Error{ErrorCode::invalid_argument,
                      "bad_parameter",
                      "This is not a cursor. Pass one that the server gave, or 0 for the beginning.",
                      {}});
  };
  if (text == "0") return 0;
  if (text.size() < 2 || text.size() > kMaxDigits + 1 || text.front() != kVersion) return bad();
  text.remove_prefix(1);
  if (text.size() > 1 && text.front() == kDigits.front()) return bad();
  std::uint64_t position = 0;
  for (char c : text) {
    std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos || position > (kMaxPosition >> 6)) return bad();
    position = position << 6 | digit;
  }
  return position;
}

}  // namespace shepherd
