// Text that comes in pieces which may end in the middle of a character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

// The character that bytes begin with. Threads: value.
struct Utf8Start {
  enum class Kind : std::uint8_t { whole, half, wrong };
  Kind kind;
  std::size_t size;  // bytes that belong together, at least 1
};
Utf8Start utf8_start(std::string_view bytes);  // which are not empty

// Passes on whole characters. Half a character waits for its other half; what cannot be UTF-8 becomes U+FFFD.
// Threads: caller.
class Utf8Gate {
 public:
  void pass(std::string_view bytes, std::string& out);
  // No more follows: what waits becomes U+FFFD.
  void finish(std::string& out);

 private:
  std::string held_;  // at most 3 bytes
};

}  // namespace shepherd
