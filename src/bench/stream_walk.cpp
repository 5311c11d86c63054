#include "bench/stream_walk.h"

#include <algorithm>

namespace shepherd::bench {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::size_t ChunkDecoder::decode(char* data, std::size_t size) {
  std::size_t kept = 0, at = 0;
  while (at < size && state_ != State::ended) {
    switch (state_) {
      case State::size: {
        int digit = hex_digit(data[at]);
        if (digit >= 0) {
          if (left_ > UINT32_MAX) return kBrokenStream;
          left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
          any_digit_ = true;
          ++at;
          break;
        }
        if (!any_digit_) return kBrokenStream;
        state_ = State::extension;
        break;
      }
      case State::extension:
        if (data[at++] == '\n') state_ = left_ == 0 ? State::ended : State::payload;
        break;
      case State::payload: {
        std::size_t piece = std::min<std::uint64_t>(left_, size - at);
        std::memmove(data + kept, data + at, piece);
        kept += piece;
        at += piece;
        left_ -= piece;
        if (left_ == 0) state_ = State::payload_end;
        break;
      }
      case State::payload_end:
        if (data[at] != '\r' && data[at] != '\n') return kBrokenStream;
        if (data[at++] == '\n') {
          state_ = State::size;
          any_digit_ = false;
        }
        break;
      case State::ended:
        break;
    }
  }
  return kept;
}

}  // namespace shepherd::bench
