#include "terminal/text_columns.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

using Lines = std::vector<std::string>;

TEST(WrappedLines, BreaksBetweenWords) {
  EXPECT_EQ(wrapped_lines("one two three", 8), (Lines{"one two ", "three"}));
  EXPECT_EQ(wrapped_lines("one two", 7), (Lines{"one two"}));
  EXPECT_EQ(wrapped_lines("", 8), (Lines{""}));
  EXPECT_EQ(wrapped_lines("a\n\nb", 8), (Lines{"a", "", "b"}));
  EXPECT_EQ(wrapped_lines("one two three", 0), (Lines{"one two three"}));
}

TEST(WrappedLines, ALongWordIsBrokenAndNothingIsLost) {
  EXPECT_EQ(wrapped_lines("abcdefghij", 4), (Lines{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrapped_lines("世界世界", 4), (Lines{"世界", "世界"}));
  EXPECT_EQ(wrapped_lines("世", 1), (Lines{"世"}));
}

TEST(WrappedLines, KeepsTheIndentation) {
  EXPECT_EQ(wrapped_lines("  - one two", 8), (Lines{"  - one ", "  two"}));
}

}  // namespace
}  // namespace shepherd
