#include "llm/chunk_json.h"

#include <gtest/gtest.h>

#include "llm/limits.h"

namespace shepherd {
namespace {

TEST(ChunkJson, GivesRawHalfCharactersBackAsTheyCame) {
  ChunkJson json;
  auto root = json.parse("{\"a\":\"x\xF0\x9F\",\"b\":{\"c\":\"\x98\x80\"}}");
  ASSERT_TRUE(root);
  EXPECT_EQ(json.text(*root, "a"), "x\xF0\x9F");
  EXPECT_EQ(json.text(*member_of(*root, "b"), "c"), "\x98\x80");
  EXPECT_EQ(json.compact(*member_of(*root, "b")), "{\"c\":\"\x98\x80\"}");
}

TEST(ChunkJson, ReplacesHalfSurrogatePairs) {
  ChunkJson json;
  auto root = json.parse(R"({"a":"x\ud83d","b":"\ud83d\ude00"})");
  ASSERT_TRUE(root);
  EXPECT_EQ(json.text(*root, "a"), "x\uFFFD");
  EXPECT_EQ(json.text(*root, "b"), "\U0001F600");
}

TEST(ChunkJson, RefusesWhatIsNotJson) {
  ChunkJson json;
  EXPECT_FALSE(json.parse("{\"a\":"));
  EXPECT_FALSE(json.parse(""));
  EXPECT_FALSE(json.parse("\xFF"));
  EXPECT_TRUE(json.parse("{}")) << "after a failure";
}

TEST(ChunkJson, ReadsTextsOnlyFromStrings) {
  ChunkJson json;
  auto root = json.parse(R"({"a":1,"b":null,"c":["x"]})");
  ASSERT_TRUE(root);
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_EQ(json.text(*root, key), "") << key;
  EXPECT_FALSE(member_of(*root, "b"));
  EXPECT_FALSE(member_of(*member_of(*root, "a"), "x")) << "no object";
}

TEST(ChunkJson, CountsAreWholeNumbersThatCanBeAddedUp) {
  ChunkJson json;
  auto root =
      json.parse(R"({"a":7,"b":7.9,"c":-1,"d":"7","e":9223372036854775807,"f":18446744073709551615,"g":1e300})");
  ASSERT_TRUE(root);
  EXPECT_EQ(count_in(*root, "a"), 7);
  EXPECT_EQ(count_in(*root, "b"), 7);
  for (const char* key : {"c", "d", "e", "f", "g", "h"}) EXPECT_EQ(count_in(*root, key), std::nullopt) << key;
}

}  // namespace
}  // namespace shepherd
