// The records of a spool file: size and CRC-32C of what follows, a kind, a number, a text. All numbers little endian.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

enum class SpoolKind : std::uint8_t {
  identity = 'I',   // first in the file; text: task, producer, destination and lease with a newline between
  event = 'E',      // number and JSON
  replaced = 'R',   // the event of that number became this one
  delivered = 'D',  // the server has everything up to the number; the last such record counts
};

struct SpoolRecord {
  SpoolKind kind = SpoolKind::event;
  std::uint64_t number = 0;
  std::string_view text;
};

inline constexpr std::size_t kSpoolHeadBytes = 8;  // size and checksum

void append_record(std::string& out, const SpoolRecord& record);

// Bytes of the record's rest, from its head; nullopt when no record can have such a size.
std::optional<std::size_t> record_size(std::string_view head);

// The record that `bytes` starts with; nullopt when it is not whole or its checksum is wrong. Its text points there.
std::optional<SpoolRecord> read_record(std::string_view bytes);

}  // namespace shepherd
