// A fuzz target's input: bytes, and how to cut them. The first byte gives the number of cuts that follow it.
// Threads: value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

struct Given {
  std::uint8_t choice = 0;  // the target may use it to choose a variant
  std::vector<std::uint8_t> cuts;
  std::string_view bytes;
};

inline Given given(const std::uint8_t* data, std::size_t size) {
  Given input;
  if (size < 2) return input;
  input.choice = data[0];
  std::size_t cut_count = std::min<std::size_t>(data[1] % 8, size - 2);
  input.cuts.assign(data + 2, data + 2 + cut_count);
  input.bytes = {reinterpret_cast<const char*>(data) + 2 + cut_count, size - 2 - cut_count};
  return input;
}

// Calls take(piece) with each piece in memory of exactly its size, so that sanitizers detect a read beyond it. Without
// cuts there is one piece.
template <class Take>
void in_pieces(std::string_view bytes, const std::vector<std::uint8_t>& cuts, Take take) {
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    std::size_t size = cuts.empty() ? bytes.size() : 1 + std::size_t{cuts[turn % cuts.size()]};
    std::vector<char> piece(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, bytes.size())));
    bytes.remove_prefix(piece.size());
    take(std::string_view(piece.data(), piece.size()));
  }
}

// The text without "<+>", which breaks up made-up secrets in the seeds, so that scanners do not report them as real.
inline std::string unbroken(std::string text) {
  for (std::size_t at = text.find("<+>"); at != std::string::npos; at = text.find("<+>", at)) text.erase(at, 3);
  return text;
}

}  // namespace shepherd
