// CRC-32C (Castagnoli): tells whether stored bytes are those that were written. No protection against forgery.
// Threads: value.
#pragma once

#include <cstdint>
#include <string_view>

namespace shepherd {

// Continues the checksum `before` with `bytes`; checksum("123456789") is 0xE3069283.
std::uint32_t checksum(std::string_view bytes, std::uint32_t before = 0);

}  // namespace shepherd
