// Walks over a server's stream in place, without copying: WebSocket frames, SSE blocks, and the HTTP chunks that may
// wrap the latter. Each walk stops before the first incomplete piece and returns how far it came.
// Threads: caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace shepherd::bench {

inline constexpr std::size_t kBrokenStream = static_cast<std::size_t>(-1);

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

// Calls on_frame(Opcode, payload) for every complete frame of a server (which never masks). Returns the bytes used, or
// kBrokenStream.
template <class OnFrame>
std::size_t walk_websocket(std::string_view bytes, OnFrame&& on_frame) {
  std::size_t at = 0;
  while (bytes.size() - at >= 2) {
    auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[at + i]); };
    std::size_t head = 2;
    std::uint64_t length = byte(1);
    if (length > 127) return kBrokenStream;
    if (length == 126) {
      head = 4;
      if (bytes.size() - at < head) break;
      length = static_cast<std::uint64_t>(byte(2)) << 8 | byte(3);
    } else if (length == 127) {
      head = 10;
      if (bytes.size() - at < head) break;
      length = 0;
      for (std::size_t i = 2; i < 10; ++i) length = length << 8 | byte(i);
    }
    if (bytes.size() - at - head < length) break;
    on_frame(static_cast<Opcode>(byte(0) & 0x0F), bytes.substr(at + head, length));
    at += head + length;
  }
  return at;
}

// Calls on_block(text) for every complete block (its lines, without the empty line that ends it). Returns the bytes
// used.
template <class OnBlock>
std::size_t walk_sse(std::string_view bytes, OnBlock&& on_block) {
  std::size_t start = 0, at = 0;
  while (at + 1 < bytes.size()) {
    const void* newline = std::memchr(bytes.data() + at, '\n', bytes.size() - 1 - at);
    if (newline == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const char*>(newline) - bytes.data()) + 1;
    if (bytes[at] != '\n') continue;
    on_block(bytes.substr(start, at - 1 - start));
    start = ++at;
  }
  return start;
}

// Removes HTTP's chunk framing from a stream, in place. Between calls it keeps only its state in the framing.
class ChunkDecoder {
 public:
  // Moves the payload in data[0, size) to the front and returns its length, or kBrokenStream.
  std::size_t decode(char* data, std::size_t size);
  bool ended() const { return state_ == State::ended; }

 private:
  enum class State : std::uint8_t { size, extension, payload, payload_end, ended };

  State state_ = State::size;
  std::uint64_t left_ = 0;  // bytes left in the chunk; while reading its size, the value so far
  bool any_digit_ = false;
};

}  // namespace shepherd::bench
