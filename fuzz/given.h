// What a fuzz target is given: bytes, and how they are cut. The first byte says how many cuts follow it.
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
  std::uint8_t choice = 0;  // for the target to choose by
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

// Calls take(piece) with each piece in memory of its own size, so that a byte read beyond it is noticed. Without cuts
// it is one piece.
template <class Take>
void in_pieces(std::string_view bytes, const std::vector<std::uint8_t>& cuts, Take take) {
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    std::size_t size = cuts.empty() ? bytes.size() : 1 + std::size_t{cuts[turn % cuts.size()]};
    std::vector<char> piece(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, bytes.size())));
    bytes.remove_prefix(piece.size());
    take(std::string_view(piece.data(), piece.size()));
  }
}

// The text without "<+>", which breaks made-up secrets in the seeds up, so that no scanner takes them for live ones.
inline std::string unbroken(std::string text) {
  for (std::size_t at = text.find("<+>"); at != std::string::npos; at = text.find("<+>", at)) text.erase(at, 3);
  return text;
}

}  // namespace shepherd
