#include "model/detail_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

namespace shepherd {
namespace {

// What is left of the only member, a text, when all may have `most` bytes.
std::string cut(std::string_view escaped, std::size_t most) {
  std::string detail = R"({"raw":")" + std::string(escaped) + std::string(200, 'x') + "\"}";
  std::string capped = capped_detail(detail, most);
  EXPECT_LE(capped.size(), most);
  constexpr std::string_view kBefore = R"("raw":")";
  std::size_t begin = capped.find(kBefore);
  if (begin == std::string::npos) return "none";
  begin += kBefore.size();
  return capped.substr(begin, capped.size() - 2 - begin);
}

// What stands around that text: {"truncated":true,"bytes":NNN,"raw":"…"}, with one byte to spare.
constexpr std::size_t kAround = 40;

TEST(CappedDetail, WhatFitsStaysAsItIs) {
  const std::string detail = R"({"raw": "abc", "n":1})";
  EXPECT_EQ(capped_detail(detail, detail.size()), detail);
  EXPECT_NE(capped_detail(detail, detail.size() - 1), detail);
}

TEST(CappedDetail, SaysThatItIsCutAndHowLongItWas) {
  std::string detail = R"({"a":1,"raw":")" + std::string(300, 'x') + R"(","b":[1,2]})";
  EXPECT_EQ(capped_detail(detail, 70), R"({"truncated":true,"bytes":)" + std::to_string(detail.size()) +
                                           R"(,"a":1,"raw":")" + std::string(24, 'x') + "\"}");
}

TEST(CappedDetail, CutsBetweenCharacters) {
  EXPECT_EQ(cut("", kAround), "none") << "no room for a character";
  EXPECT_EQ(cut("", kAround + 1), "x");
  EXPECT_EQ(cut("ab", kAround + 1), "a");
  EXPECT_EQ(cut("ab", kAround + 2), "ab");
  struct Case {
    std::string_view character;
    std::size_t bytes;
  };
  for (auto [character, bytes] :
       {Case{"\\n", 2}, Case{"\\\"", 2}, Case{"\\\\", 2}, Case{"\xC3\xA9", 2}, Case{"\xDF\xBF", 2},
        Case{"\xE0\xA0\x80", 3}, Case{"\xE2\x82\xAC", 3}, Case{"\xEF\xBF\xBD", 3}, Case{"\xF0\x9F\x98\x80", 4},
        Case{"\\u20ac", 6}, Case{"\\uD7FF", 6}, Case{"\\ud83d\\ude00", 12}, Case{"\\uD83D\\uDE00", 12},
        Case{"\\udBFF\\udfff", 12}, Case{"\\udafe\\udfff", 12}, Case{"\\uDAFE\\uDFFF", 12}, Case{"\\ud9ff\\udfff", 12},
        Case{"\\ude00", 6}, Case{"\\ud83dx", 7}}) {
    EXPECT_EQ(cut("a" + std::string(character), kAround + bytes), "a" + std::string(bytes == 7 ? "\\ud83d" : ""))
        << character;
    EXPECT_EQ(cut("a" + std::string(character), kAround + 1 + bytes), "a" + std::string(character)) << character;
  }
}

TEST(CappedDetail, OtherValuesBecomeTheirBeginningAsText) {
  std::string detail = R"({"tree":{"name":")" + std::string(300, 'x') + "\"}}";
  std::string capped = capped_detail(detail, 100);
  EXPECT_LE(capped.size(), 100U);
  EXPECT_EQ(boost::json::parse(capped).at("tree").as_string().subview(0, 10), "{\"name\":\"x");
  // Two bytes of the text for one of JSON: quotes and backslashes need an escape.
  EXPECT_EQ(boost::json::parse(capped).at("tree").as_string().size(), 29U);

  std::string accents = "{\"t\":[\"";
  for (int i = 0; i < 100; ++i) accents += "\xE2\x82\xAC";
  accents += "\"]}";
  for (std::size_t most = 60; most < 70; ++most) {
    auto text = boost::json::parse(capped_detail(accents, most)).at("t").as_string();
    EXPECT_EQ((text.size() - 2) % 3, 0U) << "whole characters";
    EXPECT_GE(text.size() + 3, (most - kAround + 2) / 2) << "as many as fit";
  }
}

TEST(CappedDetail, WhatComesLaterGoesWhenNothingIsLeft) {
  std::string detail = R"({"raw":")" + std::string(300, 'x') + R"(","b":"y","c":[1]})";
  EXPECT_EQ(capped_detail(detail, 60).find("\"b\""), std::string::npos);
  EXPECT_EQ(capped_detail(detail, 60).find("\"c\""), std::string::npos);
  EXPECT_EQ(capped_detail(detail, 5), R"({"truncated":true,"bytes":)" + std::to_string(detail.size()) + "}");
}

}  // namespace
}  // namespace shepherd
