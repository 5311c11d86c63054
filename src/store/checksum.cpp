#include "store/checksum.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace shepherd {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // bit-reversed
constexpr std::size_t kWord = 8;

// kTables[k][b] is the remainder of byte b followed by k zero bytes.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, kWord> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? rest >> 1 ^ kPolynomial : rest >> 1;
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < kWord; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

std::uint32_t add_byte(std::uint32_t rest, char byte) {
  return rest >> 8 ^ kTables[0][(rest ^ static_cast<unsigned char>(byte)) & 0xFF];
}

std::uint32_t by_table(std::string_view bytes, std::uint32_t rest) {
  for (; std::endian::native == std::endian::little && bytes.size() >= kWord; bytes.remove_prefix(kWord)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWord);
    word ^= rest;
    rest = 0;
    for (std::size_t i = 0; i < kWord; ++i) rest ^= kTables[kWord - 1 - i][word >> (8 * i) & 0xFF];
  }
  for (char byte : bytes) rest = add_byte(rest, byte);
  return rest;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_processor(std::string_view bytes, std::uint32_t rest) {
  std::uint64_t wide = rest;
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWord);
    wide = _mm_crc32_u64(wide, word);
  }
  rest = static_cast<std::uint32_t>(wide);
  for (char byte : bytes) rest = add_byte(rest, byte);
  return rest;
}
#endif

}  // namespace

std::uint32_t checksum(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool fast = __builtin_cpu_supports("sse4.2") != 0;
  if (fast) return ~by_processor(bytes, ~before);
#endif
  return ~by_table(bytes, ~before);
}

}  // namespace shepherd
