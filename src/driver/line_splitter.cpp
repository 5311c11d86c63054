#include "driver/line_splitter.h"

#include <algorithm>

#include "json/text.h"

namespace shepherd {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The length of the UTF-8 sequence that text starts with; 0 when it is none.
std::size_t sequence_bytes(std::string_view text) {
  auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  auto follows = [&](std::size_t at, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(at) >= low && byte(at) <= high;
  };
  unsigned lead = byte(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    // No overlong forms, no surrogates.
    bool second = follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return second && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    bool second = follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string_view readable_text(std::string_view bytes, std::string& store) {
  if (bytes.find('\0') == std::string_view::npos && is_utf8(bytes)) return bytes;
  store.clear();
  store.reserve(bytes.size() + 64);
  while (!bytes.empty()) {
    std::size_t length = sequence_bytes(bytes);
    if (length == 0) {
      store.append(kReplacement);
      length = 1;
    } else {
      store.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
  return store;
}

void LineSplitter::keep(std::string_view bytes) {
  std::size_t room = most_ > rest_.size() ? most_ - rest_.size() : 0;
  std::size_t taken = std::min(room, bytes.size());
  rest_.append(bytes.substr(0, taken));
  cut_ += bytes.size() - taken;
}

Line LineSplitter::finished(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {readable_text(line, readable_), 0};
}

}  // namespace shepherd
