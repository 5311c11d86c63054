#include "llm/utf8_gate.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace shepherd {
namespace {

// The text that comes out when the bytes are cut after every `size`.
std::string gated(std::string_view bytes, std::size_t size) {
  Utf8Gate gate;
  std::string out;
  while (!bytes.empty()) {
    std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    std::size_t before = out.size();
    gate.pass(piece, out);
    EXPECT_TRUE(is_utf8(std::string_view(out).substr(before))) << "half a character was passed on";
  }
  gate.finish(out);
  return out;
}

TEST(Utf8Gate, PassesWholeCharactersWhereverTheyAreCut) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";
  for (std::size_t size = 1; size <= text.size(); ++size) EXPECT_EQ(gated(text, size), text) << size;
}

TEST(Utf8Gate, HoldsHalfACharacterUntilItIsWhole) {
  Utf8Gate gate;
  std::string out;
  gate.pass("x\xF0\x9F", out);
  EXPECT_EQ(out, "x");
  gate.pass("\x98", out);
  EXPECT_EQ(out, "x");
  gate.pass("\x80y", out);
  EXPECT_EQ(out, "x\U0001F600y");
}

TEST(Utf8Gate, ReplacesWhatIsNoCharacter) {
  const std::string_view kBad = "\xEF\xBF\xBD";
  struct Case {
    std::string_view bytes;
    std::string out;
  };
  const Case cases[] = {
      {"\xFFz", std::string(kBad) + "z"},
      {"\xC0\xAFz", std::string(kBad) + std::string(kBad) + "z"},                          // overlong
      {"\xE0\x80z", std::string(kBad) + std::string(kBad) + "z"},                          // overlong
      {"\xED\xA0\x80z", std::string(kBad) + std::string(kBad) + std::string(kBad) + "z"},  // a surrogate
      {"\xF4\x90z", std::string(kBad) + std::string(kBad) + "z"},                          // beyond the last plane
      {"\xE2\x82z", std::string(kBad) + "z"},                                              // two of three
      {"\xE2\x82", std::string(kBad)},                                                     // the end
      {"\x80", std::string(kBad)},
  };
  for (const Case& each : cases) {
    for (std::size_t size = 1; size <= each.bytes.size(); ++size) EXPECT_EQ(gated(each.bytes, size), each.out);
  }
}

}  // namespace
}  // namespace shepherd
