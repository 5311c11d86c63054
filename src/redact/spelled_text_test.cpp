#include "redact/spelled_text.h"

#include <gtest/gtest.h>

#include <string>

#include "redact/redaction_mark.h"

namespace shepherd {
namespace {

std::string percent(std::string_view text, std::size_t from = 0) {
  TextSpan run = next_percent_run(text, from);
  if (run.begin == text.size()) return "none";
  return std::string(text.substr(0, run.begin)) + "<" + percent_decoded(text, run).text + ">" +
         std::string(text.substr(run.end));
}

TEST(SpelledText, PercentRunsAreDecoded) {
  EXPECT_EQ(percent("a b%41c d"), "a <bAc> d");
  EXPECT_EQ(percent("%7e%7E%20%09%0a%0D"), "<~~ \t\n\r>");
  EXPECT_EQ(percent("%41%1f%7f%zz%4"), "<A%1f%7f%zz%4>");
  EXPECT_EQ(percent("x%aF"), "none") << "nothing printable";
  EXPECT_EQ(percent("%4"), "none");
  EXPECT_EQ(percent("%4g%g4"), "none");
  EXPECT_EQ(percent("100%"), "none");
  EXPECT_EQ(percent("a%41b", 2), "none") << "not from the middle of it";
  EXPECT_EQ(percent("ab%41", 1), "a<bA>") << "nothing before `from`";
  EXPECT_EQ(percent("(az09_-+/=.~%:@?,!*[]#%41)"), "(<az09_-+/=.~%:@?,!*[]#A>)");
  EXPECT_EQ(percent("\"%41\""), "\"<A>\"");
}

TEST(SpelledText, NothingBehindTheTextIsRead) {
  constexpr std::string_view kMore = "a%41bc\\\nde";
  EXPECT_EQ(next_percent_run(kMore.substr(0, 5), 0).end, 5U);
  EXPECT_EQ(next_percent_run(kMore.substr(0, 3), 0).begin, 3U) << "half of it is none";
  EXPECT_EQ(next_joined_lines(kMore.substr(0, 9), 0).end, 9U);
  EXPECT_EQ(next_joined_lines(kMore.substr(0, 7), 0).begin, 7U);
}

TEST(SpelledText, PartsAreFoundInTheSource) {
  std::string text = "a%41%42c";
  SpelledText decoded = percent_decoded(text, {0, text.size()});
  ASSERT_EQ(decoded.text, "aABc");
  auto pieces = decoded.in_source({1, 3});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].begin, 1U);
  EXPECT_EQ(pieces[0].end, 7U);
  EXPECT_TRUE(decoded.in_source({2, 2}).empty());
  text = "ab\\\ncd";
  SpelledText joined = lines_joined(text, {0, text.size()}, false);
  ASSERT_EQ(joined.text, "abcd");
  pieces = joined.in_source({1, 3});
  ASSERT_EQ(pieces.size(), 2U) << "the joint stays";
  EXPECT_EQ(pieces[0].begin, 1U);
  EXPECT_EQ(pieces[0].end, 2U);
  EXPECT_EQ(pieces[1].begin, 4U);
  EXPECT_EQ(pieces[1].end, 5U);
}

std::string joined(std::string_view text, bool generous = false, std::size_t from = 0) {
  TextSpan lines = next_joined_lines(text, from);
  if (lines.begin == text.size()) return "none";
  return std::string(text.substr(0, lines.begin)) + "<" + lines_joined(text, lines, generous).text + ">" +
         std::string(text.substr(lines.end));
}

TEST(SpelledText, LinesAreJoinedAsAShellJoinsThem) {
  EXPECT_EQ(joined("x\na\\\nb\ny"), "x\n<ab>\ny");
  EXPECT_EQ(joined("a\\\r\nb"), "<ab>");
  EXPECT_EQ(joined("a\\\nb\\\nc\nd"), "<abc>\nd");
  EXPECT_EQ(joined("a\\\\\\nb"), "<ab>") << "as JSON spells it";
  EXPECT_EQ(joined("a\\\\\\r\\nb"), "<ab>");
  EXPECT_EQ(joined("a\\\\nb"), "none") << "a backslash and an n";
  EXPECT_EQ(joined("a\\nb"), "none");
  EXPECT_EQ(joined("a\\\\\\rb"), "none");
  EXPECT_EQ(joined("a\\\\\\tb"), "none");
  EXPECT_EQ(joined("a\\"), "none");
  EXPECT_EQ(joined("a\\\rb"), "none");
  EXPECT_EQ(joined("\\x a\\\nb"), "<\\x ab>");
  EXPECT_EQ(joined("a\\\nb\\x"), "<ab\\x>");
  EXPECT_EQ(joined("a\\\nb\nc\\\nd", false, 5), "a\\\nb\n<cd>");
}

TEST(SpelledText, CommentsDoNotGoOn) {
  EXPECT_EQ(joined("# a\\\nb"), "<# a\\\nb>");
  EXPECT_EQ(joined("# a\\\nb", true), "<# ab>");
  EXPECT_EQ(joined("x # a\\\nb"), "<x # a\\\nb>");
  EXPECT_EQ(joined("x#a\\\nb"), "<x#ab>") << "no comment";
  EXPECT_EQ(joined("# a\\\nb\\\nc"), "<# a\\\nbc>") << "the next line is none";
}

TEST(RedactionMark, IsReadAsItIsWritten) {
  auto length = [](std::string_view text) { return mark_at(text, 0); };
  EXPECT_EQ(length("[redacted:token]"), 16U);
  EXPECT_EQ(length("[redacted:api_key:12]x"), 21U);
  EXPECT_EQ(length("[redacted:" + std::string(16, 'a') + ":" + std::string(10, '1') + "]"), 38U);
  for (const std::string& text :
       {std::string("[redacted:]"), std::string("[redacted:token"), std::string("[redacted:token:]"),
        std::string("[redacted:Token:1]"), std::string("[redacted:token:1x]"), std::string("redacted:token]"),
        "[redacted:" + std::string(17, 'a') + "]", "[redacted:a:" + std::string(11, '1') + "]"}) {
    EXPECT_EQ(length(text), 0U) << text;
  }
  TextSpan next = next_mark("[redacted: x [redacted:a:1] y", 0);
  EXPECT_EQ(next.begin, 13U);
  EXPECT_EQ(next.end, 27U);
  EXPECT_EQ(next_mark("[redacted:a]", 1).begin, 12U);
  std::string out;
  append_mark(out, "secret", "h\xC3\xA4[redacted:token:7]\xE2\x82\xAC[redacted:x]");
  EXPECT_EQ(out, "[redacted:secret:10]") << "characters, and those that a mark stands for";
}

}  // namespace
}  // namespace shepherd
