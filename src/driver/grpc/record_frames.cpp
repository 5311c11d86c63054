#include "driver/grpc/record_frames.h"

#include <cstdint>

namespace shepherd {
namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

void append_frame(std::string& out, std::string_view message) {
  auto size = static_cast<std::uint32_t>(message.size());
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(size >> shift & 0xFFU));
  out.append(message);
}

std::optional<std::string_view> take_frame(std::string_view& bytes) {
  if (bytes.size() < kLengthBytes) return std::nullopt;
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) size = size << 8U | static_cast<unsigned char>(bytes[i]);
  if (bytes.size() - kLengthBytes < size) return std::nullopt;
  std::string_view message = bytes.substr(kLengthBytes, size);
  bytes.remove_prefix(kLengthBytes + size);
  return message;
}

}  // namespace shepherd
