// A marker in an event's summary, by which a subscriber can tell when the event was sent and whether one is missing,
// repeated or out of order. It has a fixed length, so that it can be written in place into a template.
//
//   '^' run(4) channel(4) stream(8) sequence(8) time(16)     hexadecimal with the digits a to p
//
// Letters only, because a long run of decimal digits looks like a card number, and servers redact those.
// Threads: value.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace shepherd::bench {

struct Marker {
  std::uint16_t run = 0;  // one measurement; events of other runs are not counted
  std::uint16_t channel = 0;
  std::uint32_t stream = 0;    // index of the publisher in the channel
  std::uint32_t sequence = 0;  // from 0, per channel and stream
  std::uint64_t time_ns = 0;

  bool operator==(const Marker&) const = default;
};

inline constexpr char kMarkerSign = '^';
inline constexpr std::size_t kMarkerBytes = 1 + 5 * 8;

namespace marker_detail {

// Encodes eight letters at a time: a word of nibbles spread over eight bytes, the first letter being the highest
// nibble.
inline std::uint64_t spread(std::uint32_t value) {
  std::uint64_t x = value;
  x = (x | (x << 16)) & 0x0000'FFFF'0000'FFFF;
  x = (x | (x << 8)) & 0x00FF'00FF'00FF'00FF;
  x = (x | (x << 4)) & 0x0F0F'0F0F'0F0F'0F0F;
  return x;
}

inline std::uint32_t gather(std::uint64_t x) {
  x = (x | (x >> 4)) & 0x00FF'00FF'00FF'00FF;
  x = (x | (x >> 8)) & 0x0000'FFFF'0000'FFFF;
  return static_cast<std::uint32_t>(x | (x >> 16));
}

inline constexpr std::uint64_t kLetterA = 0x6161'6161'6161'6161;

inline void write_word(char* at, std::uint32_t value) {
  std::uint64_t letters = __builtin_bswap64(spread(value) + kLetterA);
  std::memcpy(at, &letters, sizeof letters);
}

// Sets bits of `bad` if a byte was not one of the sixteen letters.
inline std::uint32_t read_word(const char* at, std::uint64_t& bad) {
  std::uint64_t letters;
  std::memcpy(&letters, at, sizeof letters);
  std::uint64_t nibbles = __builtin_bswap64(letters ^ 0x6060'6060'6060'6060);
  nibbles -= 0x0101'0101'0101'0101;  // 'a' is 0x61; a byte below it borrows, which sets a bit of `bad`
  bad |= nibbles & 0xF0F0'F0F0'F0F0'F0F0;
  return gather(nibbles);
}

}  // namespace marker_detail

// Writes kMarkerBytes bytes.
inline void write_marker(char* at, const Marker& marker) {
  using marker_detail::write_word;
  at[0] = kMarkerSign;
  write_word(at + 1, (std::uint32_t{marker.run} << 16) | marker.channel);
  write_word(at + 9, marker.stream);
  write_word(at + 17, marker.sequence);
  write_word(at + 25, static_cast<std::uint32_t>(marker.time_ns >> 32));
  write_word(at + 33, static_cast<std::uint32_t>(marker.time_ns));
}

// Finds the first marker of a message; false if it has none.
inline bool find_marker(std::string_view message, Marker& marker) {
  using marker_detail::read_word;
  const char* at = message.data();
  const char* end = at + message.size();
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, kMarkerSign, static_cast<std::size_t>(end - at)));
    if (at == nullptr || static_cast<std::size_t>(end - at) < kMarkerBytes) return false;
    std::uint64_t bad = 0;
    std::uint32_t where = read_word(at + 1, bad);
    marker.run = static_cast<std::uint16_t>(where >> 16);
    marker.channel = static_cast<std::uint16_t>(where);
    marker.stream = read_word(at + 9, bad);
    marker.sequence = read_word(at + 17, bad);
    marker.time_ns = (std::uint64_t{read_word(at + 25, bad)} << 32);
    marker.time_ns |= read_word(at + 33, bad);
    if (bad == 0) return true;
    ++at;
  }
  return false;
}

}  // namespace shepherd::bench
