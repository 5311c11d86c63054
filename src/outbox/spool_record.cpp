#include "outbox/spool_record.h"

#include <array>

#include "net/limits.h"

namespace shepherd {
namespace {

constexpr std::size_t kFixedBytes = 1 + 8;  // kind and number

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78u : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (char byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

void put_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t get_number(std::string_view from, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(from[static_cast<std::size_t>(i)]);
  return value;
}

}  // namespace

void append_record(std::string& out, const SpoolRecord& record) {
  std::string rest;
  rest.reserve(kFixedBytes + record.text.size());
  rest.push_back(static_cast<char>(record.kind));
  put_number(rest, record.number, 8);
  rest += record.text;
  put_number(out, rest.size(), 4);
  put_number(out, crc32c(rest), 4);
  out += rest;
}

std::optional<std::size_t> record_size(std::string_view head) {
  if (head.size() < kSpoolHeadBytes) return std::nullopt;
  std::uint64_t size = get_number(head, 4);
  if (size < kFixedBytes || size > kFixedBytes + kMaxBodyBytes) return std::nullopt;
  return size;
}

std::optional<SpoolRecord> read_record(std::string_view bytes) {
  auto size = record_size(bytes);
  if (!size || bytes.size() < kSpoolHeadBytes + *size) return std::nullopt;
  std::string_view rest = bytes.substr(kSpoolHeadBytes, *size);
  if (crc32c(rest) != get_number(bytes.substr(4), 4)) return std::nullopt;
  return SpoolRecord{static_cast<SpoolKind>(rest[0]), get_number(rest.substr(1), 8), rest.substr(kFixedBytes)};
}

}  // namespace shepherd
