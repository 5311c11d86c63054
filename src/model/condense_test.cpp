#include "model/condense.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace shepherd {
namespace {

namespace json = boost::json;

TEST(Condense, CountsCharactersNotBytes) {
  EXPECT_EQ(first_characters("h\xC3\xA9llo", 2), "h\xC3\xA9");
  EXPECT_EQ(first_characters("\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 1), "\xF0\x9F\x98\x80");
  EXPECT_EQ(first_characters("abc", 3), "abc");
  EXPECT_EQ(first_characters("abc", 0), "");
  EXPECT_EQ(truncated("abcdef", 3), "abc... (truncated)");
  EXPECT_EQ(truncated("abc", 3), "abc");
  EXPECT_EQ(truncated(truncated("abcdef", 3), 3), "abc... (truncated)");
}

TEST(Condense, AnEditShowsPathAndLengths) {
  auto input =
      json::parse(R"({"file_path":"a.go","old_string":"h\u00e9","new_string":"","replace_all":true})").as_object();
  EXPECT_TRUE(condense_input("Edit", input, {}));
  EXPECT_EQ(json::serialize(input), R"({"file_path":"a.go","oldLength":2,"newLength":0,"replace_all":true})");
  EXPECT_FALSE(condense_input("Edit", input, {})) << "condensing twice changes nothing";
}

TEST(Condense, NestedEditsToo) {
  auto input = json::parse(R"({"edits":[{"old_string":"a","new_string":"bc"}]})").as_object();
  EXPECT_TRUE(condense_input("MultiEdit", input, {}));
  EXPECT_EQ(json::serialize(input), R"({"edits":[{"oldLength":1,"newLength":2}]})");
}

TEST(Condense, LimitsPerMemberAndTool) {
  CondenseRules rules;
  rules.command_characters = 4;
  rules.string_characters = 6;
  rules.by_tool["Grep"] = 2;
  auto input = json::parse(R"({"command":"123456789","other":["123456789"],"n":1})").as_object();
  EXPECT_TRUE(condense_input("Bash", input, rules));
  EXPECT_EQ(json::serialize(input), R"({"command":"1234","other":["123456"],"n":1})");
  input = json::parse(R"({"pattern":"123"})").as_object();
  EXPECT_TRUE(condense_input("Grep", input, rules));
  EXPECT_EQ(json::serialize(input), R"({"pattern":"12"})");
  EXPECT_FALSE(condense_input("Read", input, rules));
}

}  // namespace
}  // namespace shepherd
