#include "json/scan.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace shepherd {
namespace {

TEST(JsonScan, MembersAsSlices) {
  constexpr std::string_view kText = R"({"a":1,"b\"":{"x":[1,{"y":"}"}]},"c":"\\","d":[]} tail)";
  JsonMembers members(kText);
  std::string seen;
  while (members.next()) {
    seen.append(members.key()).append("=").append(members.value()).append(";");
  }
  EXPECT_EQ(seen, R"(a=1;b\"={"x":[1,{"y":"}"}]};c="\\";d=[];)");
  EXPECT_EQ(members.end(), kText.find(" tail"));
  EXPECT_EQ(find_member(R"("a":1,"b":"two")", "b"), "\"two\"");
  EXPECT_EQ(find_member("", "b"), "");
  std::size_t depth = 0;
  EXPECT_EQ(end_of_value("[[{}]],", 0, &depth), 6U);
  EXPECT_EQ(depth, 3U);
}

TEST(JsonScan, Unescapes) {
  EXPECT_EQ(unescape(R"(a\n\"\\\/\u0041\u20ac\ud83d\ude00)"), "a\n\"\\/A\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(unescape(R"(\ud83d)"), "\xEF\xBF\xBD");
  EXPECT_EQ(unescape(R"(\x)"), std::nullopt);
  EXPECT_EQ(unescape("\\"), std::nullopt);
  EXPECT_EQ(unescape(R"(\u12)"), std::nullopt);
}

TEST(JsonScan, Numbers) {
  EXPECT_EQ(count_value("3"), 3U);
  EXPECT_EQ(count_value("3.0"), 3U);
  EXPECT_EQ(count_value("1e3"), 1000U);
  EXPECT_EQ(count_value("-1"), std::nullopt);
  EXPECT_EQ(count_value("1.5"), std::nullopt);
  EXPECT_EQ(count_value("\"3\""), std::nullopt);
  EXPECT_EQ(count_value(""), std::nullopt);
  EXPECT_DOUBLE_EQ(number_value("0.34").value(), 0.34);
  EXPECT_EQ(longest_string(R"({"ab":"c","d":["efgh\""]})"), 6U);
}

// Damaged bytes must not lead out of the text (run under the address sanitizer).
TEST(JsonScan, StaysInsideAnyText) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  SeededRandom random(kSeed);
  constexpr std::string_view kAlphabet = "{}[]\",:\\u0a";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(24); n > 0; --n) text.push_back(kAlphabet[random.below(kAlphabet.size())]);
    JsonMembers members(text);
    std::size_t steps = 0;
    while (members.next()) ASSERT_LT(++steps, text.size() + 1);
    static_cast<void>(longest_string(text));
    static_cast<void>(unescape(text));
    std::size_t end = end_of_value(text, 0);
    ASSERT_TRUE(end == std::string_view::npos || end <= text.size());
  }
}

TEST(JsonScan, MembersAndElementsKeepTheirBytes) {
  constexpr std::string_view kText = R"({"a":"x\"}","b": {"c":[1,{"d":"]"}]} ,"n":1.50,"data":[]})";
  EXPECT_EQ(find_member(kText, "a"), R"("x\"}")");
  EXPECT_EQ(find_member(kText, "b"), R"({"c":[1,{"d":"]"}]})");
  EXPECT_EQ(find_member(kText, "n"), "1.50");
  EXPECT_EQ(find_member(kText, "c"), "");  // only top-level members
  EXPECT_EQ(*array_elements(R"([ {"a":1} , "b,]", 3 ])"),
            (std::vector<std::string_view>{R"({"a":1})", R"("b,]")", "3"}));
  EXPECT_TRUE(array_elements("[]")->empty());
}

TEST(JsonScan, BrokenTextGivesNothing) {
  for (std::string_view text : {"", "{", "{\"a", "{\"a\"", "{\"a\":", "[1", "[1,", "{\"a\":\"\\", "nonsense"}) {
    EXPECT_EQ(find_member(text, "b"), "") << text;
    EXPECT_FALSE(array_elements(text)) << text;
  }
}

}  // namespace
}  // namespace shepherd
