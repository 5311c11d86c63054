#include "json/escapes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "json/blocks.h"

namespace shepherd {
namespace {

TEST(JsonEscapes, HaveTheLengthThatJsonGivesThem) {
  EXPECT_EQ(escape_length(R"(\n…)"), 2U);
  EXPECT_EQ(escape_length(R"(\\)"), 2U);
  EXPECT_EQ(escape_length(R"(\u00e9)"), 6U);
  EXPECT_EQ(escape_length(R"(\uD83D\uDE00x)"), 12U);
  for (const char* wrong : {"\\", "\\x", "\\U0041", "\\u12", "\\u12g4", "\\ud83d", "\\ud83dx", "\\ud83d\\n",
                            "\\ud83d\\ud83d", "\\ude00", "\\ud83d\\ude0"}) {
    EXPECT_EQ(escape_length(wrong), 0U) << wrong;
  }
}

// Text is copied a block at a time, and an escape may stand anywhere in or across blocks. The memory ends where the
// contract says it may: the address sanitizer sees a byte beyond.
TEST(JsonEscapes, AreResolvedAtEveryPlaceOfABlock) {
  struct Case {
    std::string_view escaped, text;
  };
  for (const auto& [escaped, text] : {Case{R"(\n)", "\n"}, Case{R"(\\\")", "\\\""}, Case{R"(\u00e9)", "\u00e9"},
                                      Case{R"(\u0000)", std::string_view("\0", 1)},
                                      Case{R"(\ud83d\ude00)", "\U0001F600"}, Case{R"(\ud83d)", "\uFFFD"}}) {
    for (std::size_t before = 0; before <= 2 * kBlock; ++before) {
      for (std::size_t after = 0; after <= kBlock; ++after) {
        std::string whole = std::string(before, 'a').append(escaped).append(after, 'z');
        std::string expected = std::string(before, 'a').append(text).append(after, 'z');
        auto room = std::make_unique<char[]>(whole.size() + kBlock);
        char* end = unescape_to(room.get(), whole);
        ASSERT_NE(end, nullptr) << whole;
        ASSERT_EQ(std::string_view(room.get(), end), expected);
        ASSERT_EQ(unescape(whole), expected);
      }
    }
  }
  for (std::size_t before = 0; before <= 2 * kBlock; ++before) {
    for (const char* wrong : {"\\", "\\x", "\\u12", "\\u12g4"}) {
      EXPECT_EQ(unescape(std::string(before, 'a') + wrong), std::nullopt) << before << wrong;
    }
  }
}

TEST(JsonEscapes, LoneSurrogatesAreReplaced) {
  EXPECT_EQ(without_lone_surrogates(R"({"a":"x\ud83d","b":"\\ud83d"})"), R"({"a":"x\ufffd","b":"\\ud83d"})");
  EXPECT_EQ(without_lone_surrogates(R"("\ude00\ud83d\ude00\uD83Dx")"), R"("\ufffd\ud83d\ude00\ufffdx")");
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ude00 \u00e9")"), std::nullopt);
  EXPECT_EQ(without_lone_surrogates(R"("\ud8)"), std::nullopt);
  EXPECT_EQ(without_lone_surrogates("\\"), std::nullopt);
}

}  // namespace
}  // namespace shepherd
