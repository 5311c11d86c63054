#include "model/visible_text.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(VisibleText, PlainTextIsUnchanged) {
  EXPECT_EQ(visible_text("git push origin main"), "git push origin main");
  EXPECT_EQ(visible_text("Grüße, 世界 👍\n\tend"), "Grüße, 世界 👍\n\tend");
}

// bash runs all of these lines, because control characters are plain bytes to it.
TEST(VisibleText, WhatAControlStringWouldSwallowIsThere) {
  EXPECT_EQ(visible_text("echo hi\u009d; touch PWN \u009c"), "echo hi\\u009d; touch PWN \\u009c");
  EXPECT_EQ(visible_text("echo hi\u0090; touch PWN"), "echo hi\\u0090; touch PWN");
  EXPECT_EQ(visible_text("echo hi \x1b]; touch PWN #\x07"), "echo hi \\x1b]; touch PWN #\\x07");
  EXPECT_EQ(visible_text("echo hi \x1b[; touch PWN"), "echo hi \\x1b[; touch PWN");
  EXPECT_EQ(visible_text("touch PWN #\recho hi"), "touch PWN #\\recho hi");
  EXPECT_EQ(visible_text("a\x7f\x08"), "a\\x7f\\x08");
}

TEST(VisibleText, InvisibleAndDirectionChangingCharactersAreWrittenOut) {
  for (std::string_view hidden : {"\u200d", "\u00ad", "\u115f",     "\u3164",     "\uffa0", "\u17b4", "\u180e",
                                  "\u2800", "\ufe0f", "\u202e",     "\u2066",     "\u061c", "\u200b", "\ufeff",
                                  "\u2028", "\u00a0", "\U000e0041", "\U000e0101", "\u034f", "\u2061", "\ufff9"}) {
    std::string shown = visible_text("a" + std::string(hidden) + "b");
    EXPECT_EQ(shown.find(hidden), std::string::npos) << shown;
    EXPECT_TRUE(shown.starts_with("a\\") && shown.ends_with("b")) << shown;
  }
  EXPECT_EQ(visible_text("\U000e0041"), "\\U000e0041");
}

TEST(VisibleText, BytesThatAreNoTextAreWrittenOut) {
  EXPECT_EQ(visible_text("a\xFF\xC0\x9B"), "a\\xff\\xc0\\x9b");
}

TEST(VisibleText, HiddenRangesEndWhereUnicodeEndsThem) {
  struct Ends {
    char32_t first, last;
  };
  for (auto [first, last] :
       {Ends{0xA0, 0xA0},      Ends{0xAD, 0xAD},     Ends{0x34F, 0x34F},     Ends{0x61C, 0x61C},
        Ends{0x115F, 0x1160},  Ends{0x1680, 0x1680}, Ends{0x17B4, 0x17B5},   Ends{0x180B, 0x180F},
        Ends{0x2000, 0x200F},  Ends{0x2028, 0x202F}, Ends{0x205F, 0x206F},   Ends{0x2800, 0x2800},
        Ends{0x3000, 0x3000},  Ends{0x3164, 0x3164}, Ends{0xFE00, 0xFE0F},   Ends{0xFEFF, 0xFEFF},
        Ends{0xFFA0, 0xFFA0},  Ends{0xFFF0, 0xFFFB}, Ends{0x1BCA0, 0x1BCA3}, Ends{0x1D173, 0x1D17A},
        Ends{0xE0000, 0xE0FFF}}) {
    EXPECT_TRUE(is_hidden(first)) << std::hex << static_cast<std::uint32_t>(first);
    EXPECT_TRUE(is_hidden(last)) << std::hex << static_cast<std::uint32_t>(last);
    EXPECT_FALSE(is_hidden(first - 1)) << std::hex << static_cast<std::uint32_t>(first);
    EXPECT_FALSE(is_hidden(last + 1)) << std::hex << static_cast<std::uint32_t>(last);
  }
  EXPECT_FALSE(is_hidden(0x10FFFF));
}

TEST(VisibleText, ControlsAreC0DeleteAndC1) {
  for (char32_t code : {0x00, 0x1F, 0x7F, 0x80, 0x9F})
    EXPECT_TRUE(is_control(code)) << static_cast<std::uint32_t>(code);
  for (char32_t code : {0x20, 0x7E, 0xA0}) EXPECT_FALSE(is_control(code)) << static_cast<std::uint32_t>(code);
}

TEST(VisibleText, CharactersAreReadAsUtf8HasThem) {
  auto code = [](std::string_view text) -> std::string {
    Utf8Character first = first_character(text);
    if (!first.valid) return first.bytes == 1 ? "broken" : "broken, and longer than a byte";
    return std::to_string(static_cast<std::uint32_t>(first.code)) + " in " + std::to_string(first.bytes);
  };
  EXPECT_EQ(code(std::string_view("\0", 1)), "0 in 1");
  EXPECT_EQ(code("\x7F"), "127 in 1");
  EXPECT_EQ(code("\xC2\x80"), "128 in 2");
  EXPECT_EQ(code("\xDF\xBF"), "2047 in 2");
  EXPECT_EQ(code("\xE0\xA0\x80"), "2048 in 3");
  EXPECT_EQ(code("\xED\x9F\xBF"), "55295 in 3");
  EXPECT_EQ(code("\xEE\x80\x80"), "57344 in 3");
  EXPECT_EQ(code("\xEF\xBF\xBF"), "65535 in 3");
  EXPECT_EQ(code("\xF0\x90\x80\x80"), "65536 in 4");
  EXPECT_EQ(code("\xF4\x8F\xBF\xBF"), "1114111 in 4");
  for (std::string_view broken : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xC2\xC0",
                                  "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
                                  "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(code(broken), "broken") << visible_text(broken);
  }
}

TEST(VisibleText, EachIsWrittenOutInTheShortestForm) {
  auto written = [](char32_t code) {
    std::string out;
    append_written_out(out, code);
    return out;
  };
  EXPECT_EQ(written('\r'), "\\r");
  EXPECT_EQ(written(0x01), "\\x01");
  EXPECT_EQ(written(0x7F), "\\x7f");
  EXPECT_EQ(written(0x80), "\\u0080");
  EXPECT_EQ(written(0xFFFF), "\\uffff");
  EXPECT_EQ(written(0x10000), "\\U00010000");
}

}  // namespace
}  // namespace shepherd
