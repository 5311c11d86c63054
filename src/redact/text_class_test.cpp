#include "redact/text_class.h"

#include <gtest/gtest.h>

#include <string>

namespace shepherd {
namespace {

TEST(TextClass, EachByteHasItsClasses) {
  auto members = [](std::uint8_t charset) {
    std::string out;
    for (int c = 0; c < 256; ++c) {
      if (is_in(static_cast<char>(c), charset)) out += static_cast<char>(c);
    }
    return out;
  };
  EXPECT_EQ(members(kDigit), "0123456789");
  EXPECT_EQ(members(kLower), "abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(members(kUpper), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  EXPECT_EQ(members(kHex), "0123456789ABCDEFabcdef");
  EXPECT_EQ(members(kUnderscore), "_");
  EXPECT_EQ(members(kDash), "-");
  EXPECT_EQ(members(kBase64Sign), "+/=");
  EXPECT_EQ(members(kDotTilde), ".~");
  std::string folded_ones;
  for (char c : std::string("AZaz@[`{09")) folded_ones += folded(c);
  EXPECT_EQ(folded_ones, "azaz@[`{09");
}

TEST(TextClass, ShellSyntaxEndsAWord) {
  for (char c : std::string(";&|$()<>`\"'\\\x7f \t\n") + '\0') EXPECT_TRUE(is_shell_syntax(c)) << int{c};
  for (char c : std::string("!aZ09_-=/.,:@%+#*?[]{}~^")) EXPECT_FALSE(is_shell_syntax(c)) << c;
  EXPECT_EQ(before_shell_syntax("abc;d", 0, 5), 3U);
  EXPECT_EQ(before_shell_syntax("abc;d", 0, 2), 2U);
  EXPECT_EQ(before_shell_syntax(";", 0, 1), 0U);
}

TEST(TextClass, RunsAreBounded) {
  EXPECT_EQ(end_of_run("aaa1", 0, kLower), 3U);
  EXPECT_EQ(end_of_run("aaa", 1, kLower), 3U);
  EXPECT_EQ(end_of_run("aaaa", 0, kLower, 2), 2U);
  EXPECT_EQ(end_of_run("aaaa", 1, kLower, 3), 4U);
  EXPECT_EQ(end_of_run("aaaa", 1, kLower, 2), 3U);
  EXPECT_EQ(end_of_run("1", 0, kLower), 0U);
  EXPECT_EQ(end_of_run("a", 1, kLower, 0), 1U);
  constexpr std::string_view kMore = "aaaaaa";
  EXPECT_EQ(end_of_run(kMore.substr(0, 3), 1, kLower, 3), 3U) << "nothing behind the text is read";
  EXPECT_EQ(end_of_run(kMore.substr(0, 3), 0, kLower), 3U);
}

TEST(TextClass, BackslashesAndBlanksAreCounted) {
  EXPECT_EQ(count_backslashes("\\\\x", 0), 2U);
  EXPECT_EQ(count_backslashes("\\\\x", 1), 1U);
  EXPECT_EQ(count_backslashes("x", 0), 0U);
  EXPECT_EQ(count_backslashes(std::string_view("\\\\\\").substr(0, 2), 0), 2U);
  EXPECT_EQ(count_backslashes(std::string(100, '\\'), 0), 64U);
  EXPECT_EQ(skip_blanks(" \t x", 0), 3U);
  EXPECT_EQ(skip_blanks("\\t\\\\t x", 0), 6U);
  EXPECT_EQ(skip_blanks("\\nx", 0), 0U);
  EXPECT_EQ(skip_blanks(std::string(9, ' '), 0), 8U);
  EXPECT_EQ(skip_blanks(std::string(7, ' '), 0), 7U);
}

TEST(TextClass, WordsStartAfterWhatIsNone) {
  auto starts = [](std::string_view before) { return at_word_start(std::string(before) + "x", before.size()); };
  for (const char* before : {"", " ", "-", ".", "\\n", "\\\\t", "\\u001b", "\\u00e9", "\x1b[1m",
                             "\x1b[38;2;255;255;255m", "\\u001b[0m", "\\x1B[0m", "\\e[31m", "\\033[0m", "\x1b[m"}) {
    EXPECT_TRUE(starts(before)) << before;
  }
  for (const char* before : {"a", "1", "_", "u00e9", "[1m", "x[1m", "\x1b[1_", "\x1b[1;2", "\x1b[1;2;3;4;5;6;7;8;9;10m",
                             "\x1b(1m", "\\x00e9"}) {
    EXPECT_FALSE(starts(before)) << before;
  }
}

}  // namespace
}  // namespace shepherd
