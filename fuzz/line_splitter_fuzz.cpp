// Splits any bytes, cut anywhere, into lines. Lines are valid UTF-8 without NUL and newline, bounded and independent of
// the cuts, and valid UTF-8 stays unchanged.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "driver/line_splitter.h"
#include "given.h"

namespace {

using namespace shepherd;

constexpr std::size_t kLongestLine = 40;
constexpr std::size_t kReplacementBytes = 3;  // U+FFFD in place of one byte

struct Kept {
  std::string text;
  std::size_t cut_bytes = 0;
  bool operator==(const Kept&) const = default;
};

std::vector<Kept> split(std::string_view bytes, const std::vector<std::uint8_t>& cuts) {
  std::vector<Kept> lines;
  LineSplitter splitter(kLongestLine);
  auto take = [&](const Line& line) {
    std::string store;
    std::string_view again = readable_text(line.text, store);
    SHEPHERD_ASSERT(again == line.text, "a line is readable text, and readable text stays as it is");
    SHEPHERD_ASSERT(line.text.find('\n') == std::string_view::npos, "a line has no newline");
    SHEPHERD_ASSERT(line.text.find('\0') == std::string_view::npos, "a line has no NUL");
    SHEPHERD_ASSERT(line.text.size() <= kLongestLine * kReplacementBytes, "a line is bounded");
    lines.push_back({std::string(line.text), line.cut_bytes});
  };
  in_pieces(bytes, cuts, [&](std::string_view piece) {
    splitter.add(piece, take);
    SHEPHERD_ASSERT(splitter.held_bytes() <= kLongestLine, "what is held is bounded");
  });
  splitter.finish(take);
  return lines;
}

// A simple splitter for bytes that need no repair.
std::vector<Kept> expected(std::string_view bytes) {
  std::vector<Kept> lines;
  while (!bytes.empty()) {
    std::size_t end = std::min(bytes.find('\n'), bytes.size());
    std::size_t kept = std::min(end, kLongestLine);
    std::string text(bytes.substr(0, kept));
    if (text.ends_with('\r')) text.pop_back();
    std::string store;
    lines.push_back({std::string(readable_text(text, store)), end - kept});
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  auto whole = split(input.bytes, {});
  SHEPHERD_ASSERT(split(input.bytes, input.cuts) == whole, "lines do not depend on how their bytes were cut");
  SHEPHERD_ASSERT(whole == expected(input.bytes), "a line is what stands between two newlines");
  return 0;
}
