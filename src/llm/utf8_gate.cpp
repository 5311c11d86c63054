#include "llm/utf8_gate.h"

#include "json/text.h"

namespace shepherd {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

Utf8Start utf8_start(std::string_view bytes) {
  auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {Utf8Start::Kind::whole, 1};
  std::size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                     : lead >= 0xE0 && lead <= 0xEF ? 3
                     : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                    : 0;
  if (size == 0) return {Utf8Start::Kind::wrong, 1};
  for (std::size_t at = 1; at < size; ++at) {
    if (at == bytes.size()) return {Utf8Start::Kind::half, at};
    unsigned char low = 0x80, high = 0xBF;
    if (at == 1) {
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;  // surrogates are no characters
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    }
    if (byte(at) < low || byte(at) > high) return {Utf8Start::Kind::wrong, at};
  }
  return {Utf8Start::Kind::whole, size};
}

void Utf8Gate::pass(std::string_view bytes, std::string& out) {
  if (held_.empty() && is_utf8(bytes)) {
    out.append(bytes);
    return;
  }
  std::string joined = std::move(held_);
  held_.clear();
  joined.append(bytes);
  std::string_view rest = joined;
  while (!rest.empty()) {
    Utf8Start next = utf8_start(rest);
    if (next.kind == Utf8Start::Kind::half) {
      held_.assign(rest);
      return;
    }
    out.append(next.kind == Utf8Start::Kind::whole ? rest.substr(0, next.size) : kReplacement);
    rest.remove_prefix(next.size);
  }
}

void Utf8Gate::finish(std::string& out) {
  if (!held_.empty()) out.append(kReplacement);
  held_.clear();
}

}  // namespace shepherd
