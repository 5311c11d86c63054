#include "chat/code_fences.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

// "text|code" pieces joined by kind, with the text cut after every `size`.
std::string told_apart(std::string_view text, std::size_t size) {
  CodeFences fences;
  std::string out;
  bool last = false;
  auto emit = [&](bool code, std::string_view piece) {
    EXPECT_FALSE(piece.empty());
    if (out.empty() || code != last) out += code ? "[code]" : "[text]";
    last = code;
    out += piece;
  };
  while (!text.empty()) {
    std::string piece(text.substr(0, size));
    text.remove_prefix(piece.size());
    fences.add(piece, emit);
  }
  fences.finish(emit);
  return out;
}

void expect_told(std::string_view text, const std::string& wanted) {
  for (std::size_t size = 1; size <= text.size(); ++size) EXPECT_EQ(told_apart(text, size), wanted) << size;
}

TEST(CodeFences, TellCodeFromProseWhereverItIsCut) {
  expect_told("Here:\n```python\nprint('hi')\n```\nEnd.", "[text]Here:\n[code]print('hi')\n[text]End.");
}

TEST(CodeFences, BeginAtTheStartOfALineOnly) {
  expect_told("a ``` b\n ```\n`` two\n` one", "[text]a ``` b\n ```\n`` two\n` one");
  expect_told("```\nx", "[code]x");
  expect_told("say ```x``` inline", "[text]say ```x``` inline");
}

TEST(CodeFences, KeepEmptyAndUnfinishedCode) {
  expect_told("a\n```\n```\nb", "[text]a\nb");
  expect_told("a\n```\nno end\n", "[text]a\n[code]no end\n");
  expect_told("a\n``", "[text]a\n``");
  expect_told("a\n```py", "[text]a\n");
}

TEST(CodeFences, BeginAnewAfterTheEnd) {
  CodeFences fences;
  std::string out;
  auto emit = [&](bool code, std::string_view piece) { out += (code ? "[code]" : "[text]") + std::string(piece); };
  fences.add("```\ncode", emit);
  fences.finish(emit);
  fences.add("prose", emit);
  EXPECT_EQ(out, "[code]code[text]prose");
}

}  // namespace
}  // namespace shepherd
