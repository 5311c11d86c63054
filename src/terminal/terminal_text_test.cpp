#include "terminal/terminal_text.h"

#include <gtest/gtest.h>

#include <random>

namespace shepherd {
namespace {

std::string one_line(std::string_view text) {
  return terminal_text(text, Lines::join);
}

TEST(TerminalText, PlainTextIsUnchanged) {
  EXPECT_EQ(one_line("Reading src/auth.go"), "Reading src/auth.go");
  EXPECT_EQ(one_line("Grüße, 世界 👩‍💻"), "Grüße, 世界 👩‍💻");
}

TEST(TerminalText, EscapeSequencesGoWithTheirPayload) {
  EXPECT_EQ(one_line("\x1b[31mred\x1b[0m"), "red");
  EXPECT_EQ(one_line("a\x1b]0;evil title\ab"), "ab");
  EXPECT_EQ(one_line("a\x1b]8;;http://evil\x1b\\b"), "ab");
  EXPECT_EQ(one_line("a\x1bP1;2|payload\x1b\\b"), "ab");
  EXPECT_EQ(one_line("a\x1b(Bb"), "ab");
  EXPECT_EQ(one_line("a\x1b]52;c;unfinished"), "a52;c;unfinished");  // an unfinished sequence hides no text
  EXPECT_EQ(one_line("tail\x1b"), "tail");
}

// A terminal would treat these as the start of a sequence, but the text after them must stay.
TEST(TerminalText, C1ControlsSwallowNothing) {
  EXPECT_EQ(one_line("a\u009b2Jb"), "a\\u009b2Jb");
  EXPECT_EQ(one_line("echo hi\u009d; touch PWN \u009c"), "echo hi\\u009d; touch PWN \\u009c");
  EXPECT_EQ(one_line("echo hi\u0090; touch PWN"), "echo hi\\u0090; touch PWN");
}

TEST(ExactText, NothingIsDropped) {
  EXPECT_EQ(exact_text("echo hi\u009d; touch PWN \u009c", Lines::join), "echo hi\\u009d; touch PWN \\u009c");
  EXPECT_EQ(exact_text("a \x1b[31mb\tc\nd", Lines::join), "a \\x1b[31mb  c\\nd");
  EXPECT_EQ(exact_text("a\nb\u202e", Lines::keep), "a\nb\\u202e");
}

TEST(TerminalText, ControlAndDeceptiveCharactersGo) {
  EXPECT_EQ(one_line("a\rb\bc\x7f"
                     "d\ve"),
            "abcde");
  EXPECT_EQ(one_line("user\xE2\x80\xAEtxt.exe"), "usertxt.exe");  // right-to-left override
  EXPECT_EQ(one_line("zero\xE2\x80\x8Bwidth"), "zerowidth");
  EXPECT_EQ(one_line("tag\xF3\xA0\x81\x81s"), "tags");
}

TEST(TerminalText, LineBreaksAreKeptOrJoined) {
  EXPECT_EQ(terminal_text("a\nb", Lines::keep), "a\nb");
  EXPECT_EQ(one_line("a\nb\xE2\x80\xA8"
                     "c"),
            "a b c");
}

TEST(TerminalText, BadUtf8BecomesAReplacementCharacter) {
  EXPECT_EQ(one_line("a\xFF"
                     "b"),
            "a\xEF\xBF\xBD"
            "b");
  // An overlong form cannot smuggle in a control character.
  EXPECT_EQ(one_line("\xC0\x9B"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(one_line("\xE2\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(TerminalText, NoInputLeavesAnythingATerminalActsOn) {
  std::mt19937_64 random(std::random_device{}());
  std::uint64_t seed = random();
  RecordProperty("seed", std::to_string(seed));
  random.seed(seed);
  const std::string_view pieces[] = {"\x1b", "[", "]",  "P",  "\xC2\x9B", "\xC2", "\x9B",
                                     "3",    "m", "\a", "\\", "\n",       "x",    ";"};
  for (int round = 0; round < 20'000; ++round) {
    std::string input;
    for (int i = 0; i < 12; ++i) input += pieces[random() % std::size(pieces)];
    std::string output = one_line(input);
    for (std::size_t i = 0; i < output.size(); ++i) {
      auto byte = static_cast<unsigned char>(output[i]);
      ASSERT_TRUE(byte >= 0x20 && byte != 0x7F) << "seed " << seed;
      ASSERT_FALSE(byte == 0xC2 && static_cast<unsigned char>(output[i + 1]) < 0xA0) << "seed " << seed;
    }
  }
}

TEST(TerminalJson, DangerousCharactersBecomeEscapesOfEqualJson) {
  EXPECT_EQ(terminal_json("{\"a\":\"\xC2\x9B\"}"), "{\"a\":\"\\u009b\"}");
  EXPECT_EQ(terminal_json("\"\xF3\xA0\x81\x81\""), "\"\\udb40\\udc41\"");
  EXPECT_EQ(terminal_json("\"ü\""), "\"ü\"");
  EXPECT_EQ(terminal_json("\"\x7f\u200d\u202e\u00ad\""), "\"\\u007f\\u200d\\u202e\\u00ad\"");
}

TEST(CutTo, CountsCharactersNotBytes) {
  EXPECT_EQ(cut_to("Grüße", 5), "Grüße");
  EXPECT_EQ(cut_to("Grüße!", 5), "Grüß…");
}

}  // namespace
}  // namespace shepherd
