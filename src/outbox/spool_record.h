// The records of a spool file: size and CRC-32C of the rest, a kind, a number, a text. All numbers are little endian.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

enum class SpoolKind : std::uint8_t {
  identity = 'I',   // first in the file; text: task, producer, destination and lease, separated by newlines
  event = 'E',      // number and JSON
  replaced = 'R',   // replaces the event with that number
  delivered = 'D',  // the server has everything up to the number; the last such record counts
};

struct SpoolRecord {
  SpoolKind kind = SpoolKind::event;
  std::uint64_t number = 0;
  std::string_view text;
};

inline constexpr std::size_t kSpoolHeadBytes = 8;  // size and checksum

void append_record(std::string& out, const SpoolRecord& record);

// The size of the record's rest, from its head; nullopt for an impossible size.
std::optional<std::size_t> record_size(std::string_view head);

// The record at the start of `bytes`; nullopt if it is incomplete or its checksum is wrong. Its text points into
// `bytes`.
std::optional<SpoolRecord> read_record(std::string_view bytes);

}  // namespace shepherd
