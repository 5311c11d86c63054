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

}  // namespace
}  // namespace shepherd
