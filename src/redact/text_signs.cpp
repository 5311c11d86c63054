#include "redact/text_signs.h"

#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace shepherd {
namespace {

constexpr std::size_t kBlock = 32;

// One bit for each byte of a block.
struct Marks {
  std::uint64_t backslash = 0;
  std::uint64_t line_end = 0;
  std::uint64_t digit = 0;
};

#if defined(__SSE2__)
Marks marks_of(const char* bytes) {
  Marks marks;
  for (std::size_t half = 0; half < 2; ++half) {
    __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * half));
    auto bits = [half](__m128i workers) {
      return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(workers))} << 16 * half;
    };
    auto equal = [block](char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); };
    __m128i value = _mm_sub_epi8(block, _mm_set1_epi8('0'));  // a digit is now below ten
    marks.backslash |= bits(equal('\\'));
    marks.line_end |= bits(_mm_or_si128(equal('\n'), equal('\r')));
    marks.digit |= bits(_mm_cmpeq_epi8(value, _mm_min_epu8(value, _mm_set1_epi8(9))));
  }
  return marks;
}
#else
Marks marks_of(const char* bytes) {
  Marks marks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    auto mark = [i](bool there) { return std::uint64_t{there} << i; };
    char c = bytes[i];
    marks.backslash |= mark(c == '\\');
    marks.line_end |= mark(c == '\n' || c == '\r');
    marks.digit |= mark(c >= '0' && c <= '9');
  }
  return marks;
}
#endif

}  // namespace

TextSigns signs_of(std::string_view text) {
  // The block before is in the low half, so that nothing is missed where two meet.
  std::uint64_t backslash = 0;
  std::uint64_t digit = 0;
  std::uint64_t joints = 0;
  std::uint64_t cards = 0;
  auto look = [&](const char* bytes) {
    Marks marks = marks_of(bytes);
    backslash = backslash >> kBlock | marks.backslash << kBlock;
    joints |= backslash & marks.line_end << (kBlock - 1);
    joints |= backslash & backslash >> 1 & backslash >> 2;
    digit = digit >> kBlock | marks.digit << kBlock;
    std::uint64_t four = digit & digit >> 1 & digit >> 2 & digit >> 3;
    cards |= four & four >> 5 & (four >> 9 | four >> 10 | four >> 12);  // 13 in a row, 4-4-4-4, 4-6-5
  };
  std::size_t at = 0;
  for (; at + kBlock <= text.size(); at += kBlock) look(text.data() + at);
  if (at < text.size()) {
    std::array<char, kBlock> rest{};
    std::memcpy(rest.data(), text.data() + at, text.size() - at);
    look(rest.data());
  }
  return {.joint = joints != 0, .card = cards != 0};
}

}  // namespace shepherd
