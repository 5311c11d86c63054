// Bytes of JSON text, a block at a time: where the first byte that matters inside a string stands.
//
// SSE2 is part of every x86-64; other machines look at the eight bytes of a word. Either reads a whole block, so the
// caller has kBlock bytes there.
// Threads: value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace shepherd {

// Eight bytes as a number. A mark is the highest bit of its byte. Only the first one is certain: a borrow carries into
// those above.
class WordBlock {
 public:
  static constexpr std::size_t kBytes = 8;

  explicit WordBlock(const char* bytes) {
    std::memcpy(&bytes_, bytes, kBytes);
    if constexpr (std::endian::native == std::endian::big) bytes_ = std::byteswap(bytes_);
  }
  std::uint64_t equal(char byte) const { return marks_below(bytes_ ^ (kOnes * static_cast<unsigned char>(byte)), 1); }
  std::uint64_t controls() const { return marks_below(bytes_, ' '); }
  // The offset of the first mark; kBytes when there is none.
  static std::size_t first(std::uint64_t marks) { return static_cast<std::size_t>(std::countr_zero(marks)) / 8; }

 private:
  static constexpr std::uint64_t kOnes = 0x0101010101010101U;

  static std::uint64_t marks_below(std::uint64_t bytes, std::uint64_t bound) {
    return (bytes - kOnes * bound) & ~bytes & (kOnes << 7U);
  }

  std::uint64_t bytes_ = 0;
};

#if defined(__SSE2__)
// Sixteen bytes. A mark is a byte of ones.
class SseBlock {
 public:
  static constexpr std::size_t kBytes = 16;

  explicit SseBlock(const char* bytes) : bytes_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))) {}
  __m128i equal(char byte) const { return _mm_cmpeq_epi8(bytes_, _mm_set1_epi8(byte)); }
  __m128i controls() const { return _mm_cmpeq_epi8(_mm_min_epu8(bytes_, _mm_set1_epi8(' ' - 1)), bytes_); }
  static std::size_t first(__m128i marks) {
    auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(marks));
    return bits == 0 ? kBytes : static_cast<std::size_t>(std::countr_zero(bits));
  }

 private:
  __m128i bytes_;
};
using Block = SseBlock;
#else
using Block = WordBlock;
#endif

inline constexpr std::size_t kBlock = Block::kBytes;

// The offset of the first quote or backslash; kBlock when there is none.
template <class AnyBlock = Block>
std::size_t first_quote_or_escape(const char* bytes) {
  AnyBlock block(bytes);
  return AnyBlock::first(block.equal('"') | block.equal('\\'));
}

// The offset of the first byte that is not plain in a string: a quote, a backslash or a control character; kBlock when
// there is none.
template <class AnyBlock = Block>
std::size_t first_not_plain(const char* bytes) {
  AnyBlock block(bytes);
  return AnyBlock::first(block.equal('"') | block.equal('\\') | block.controls());
}

}  // namespace shepherd
