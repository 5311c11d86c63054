#include "json/slices.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/random.h"

namespace shepherd {
namespace {

bool all(std::string_view, std::string_view) {
  return true;
}
bool only_message(std::string_view key, std::string_view) {
  return key == "message";
}

bool looked_into(std::string_view key, std::string_view) {
  return key == "a" || key == "c";
}

// What another reader makes of it: the record without its blanks; empty when it is none.
std::string as_another_reads(const std::string& line) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(simdjson::padded_string(line)).get(root) != simdjson::SUCCESS) return {};
  if (!root.is_object() && !root.is_array()) return {};
  std::string compact(line.size(), '\0');
  std::size_t size = 0;
  if (simdjson::minify(line.data(), line.size(), compact.data(), size) != simdjson::SUCCESS) return {};
  compact.resize(size);
  return compact;
}

// Texts that are almost JSON, compact or not: the walk must take exactly what simdjson's own parser takes.
TEST(JsonSlices, TakesWhatAnotherReaderTakes) {
  auto seed = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  const std::vector<std::string> texts{
      R"({"a":{"b":[1,-2.5e3,true,null,{}],"c":"x\ny"},"d":[[],[0]],"e":"\"\\/"})",
      R"([ {"c" : "é" , "a":[ false ,"", 12345678901234567] }, {} , [ ] ])",
      R"({"z":{"y":{"x":[[1,2],{"w":"v\t"}]}},"c":0.1,"a":1E9})",
      R"({"a":"text longer than a block, é\n and \ud83d\ude00, more","not looked into":"as long, \u00e9 and \" in it"})",
  };
  const std::string bytes = "{}[],:\"\\ \t019-+.eEtruefalsn\xc3\xa9\x01";
  JsonSlices slices;
  std::size_t taken = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string line = texts[random.below(texts.size())];
    for (std::uint64_t change = random.below(3); change > 0; --change) {
      std::size_t at = random.below(line.size());
      char byte = bytes[random.below(bytes.size())];
      switch (random.below(3)) {
        case 0:
          line[at] = byte;
          break;
        case 1:
          line.insert(at, 1, byte);
          break;
        default:
          line.erase(at, 1 + random.below(3));
          break;
      }
    }
    std::string expected = as_another_reads(line);
    ASSERT_EQ(slices.parse(line, looked_into), !expected.empty()) << line;
    ASSERT_EQ(slices.text(), expected) << line;
    taken += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(taken, 10'000U) << "most were not even tried";
}

TEST(JsonSlices, MembersAreSlicesAndStringsAreText) {
  JsonSlices slices;
  ASSERT_TRUE(slices.parse(R"( {"a" : "x\ny", "message":{"b":[1, {"c":true}],"d":-2.5}, "e":null, "\u0061b":false} )",
                           only_message));
  EXPECT_EQ(slices.text(), R"({"a":"x\ny","message":{"b":[1,{"c":true}],"d":-2.5},"e":null,"\u0061b":false})");
  EXPECT_EQ(slices.string("a"), "x\ny");
  EXPECT_EQ(slices.find("a").slice, R"("x\ny")");
  const auto& message = slices.find("message");
  EXPECT_EQ(message.slice, R"({"b":[1,{"c":true}],"d":-2.5})");
  EXPECT_EQ(slices.find(message, "b").slice, R"([1,{"c":true}])");
  EXPECT_EQ(slices.find(message, "b").child, 0U);  // not looked into
  EXPECT_EQ(number_of(slices.find(message, "d")), -2.5);
  EXPECT_EQ(slices.find("e").kind, JsonKind::null);
  EXPECT_EQ(slices.find("ab").kind, JsonKind::boolean);
  EXPECT_EQ(slices.find("nothing").kind, JsonKind::null);
  EXPECT_TRUE(slices.string("nothing").empty());
}

// It is embedded in events as it is, so it must be JSON where nobody looks, too.
TEST(JsonSlices, WhatIsNotLookedIntoIsCheckedAllTheSame) {
  JsonSlices slices;
  for (const char* value : {R"({"k":"\\ \n \u00e9 \ud83d\ude00"})", R"([1,-2.5e3,true,null,{}])"}) {
    EXPECT_TRUE(slices.parse(std::string(R"({"x":)") + value + "}", only_message)) << value;
  }
  for (const char* value :
       {R"({"k":"\x"})", R"({"\q":1})", R"({"k":"\u12g4"})", R"({"k":"\ud83d"})", R"({"k":"\ude00"})", R"({"k":01})",
        R"({"k":tru})", R"({"k" 1})", R"([1 2])", R"({"k":nul})", R"([1,])"}) {
    EXPECT_FALSE(slices.parse(std::string(R"({"x":)") + value + "}", only_message)) << value;
  }
}

// The buffer still held the end of the line before, and the walk went on into it.
TEST(JsonSlices, ACutRecordIsNotContinuedByTheOneBefore) {
  JsonSlices slices;
  std::string whole = R"({"message":{"a":"text"},"b":["x",1,true]})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(slices.parse(whole, only_message));
    EXPECT_FALSE(slices.parse(whole.substr(0, size), only_message)) << whole.substr(0, size);
  }
}

TEST(JsonSlices, ArraysCanBeWalked) {
  JsonSlices slices;
  ASSERT_TRUE(slices.parse(R"([{"n":1},{"n":2},[3]])", all));
  std::string found;
  for (const JsonNode* each = slices.first(slices.root()); each != nullptr; each = slices.after(*each)) {
    found += std::string(each->slice) + "|";
  }
  EXPECT_EQ(found, R"({"n":1}|{"n":2}|[3]|)");
}

// What parses is embedded in events as it is, so nothing may parse that the server would refuse.
TEST(JsonSlices, WhatIsNotJsonDoesNotParse) {
  const char* bad[] = {
      "",
      "x",
      "7",
      "\"text\"",
      "{",
      "{\"a\":1",
      "{\"a\":1}}",
      "{\"a\":1}{\"b\":2}",
      "{\"a\":tru}",
      "{\"a\":{]}",
      "{\"a\":[1,]}",
      "{\"a\":01}",
      "{\"a\":\"\\q\"}",
      "{\"a\":\"\\ud83d\"}",
      "{a:1}",
      "{\"a\" 1}",
      "{\"a\":1,}",
      "{\"a\":123456789012345678901234567890}",

      "{\"a\":nul}",
      "{\"a\":{\"b\":[}]}",
      "{\"a\":-}",
      "[,1]",
  };
  JsonSlices slices;
  for (const char* text : bad) {
    EXPECT_FALSE(slices.parse(text, all)) << text;
    EXPECT_TRUE(slices.find("a").slice.empty());
    auto nobody = [](std::string_view, std::string_view) { return false; };
    EXPECT_FALSE(slices.parse(text, nobody)) << text;
  }
  std::string deep(70, '[');
  deep += std::string(70, ']');
  EXPECT_FALSE(slices.parse("{\"a\":" + deep + "}", all));
  EXPECT_TRUE(slices.parse("{\"a\":" + deep.substr(20, 100) + "}", all));
}

// Strings are passed a block at a time: what ends, escapes or breaks one may stand anywhere in or across blocks.
TEST(JsonSlices, StringsOfEveryLengthEndWhereTheyEnd) {
  JsonSlices slices;
  for (std::size_t size = 0; size < 70; ++size) {
    std::string plain(size, 'x');
    ASSERT_TRUE(slices.parse(R"({"a":")" + plain + R"(","b":"y"})", all)) << size;
    ASSERT_EQ(slices.string("a"), plain);
    ASSERT_EQ(slices.string("b"), "y");
    ASSERT_TRUE(slices.parse(R"({"a":")" + plain + R"(\\\"\u00e9,","b":"y\n"})", all)) << size;
    ASSERT_EQ(slices.string("a"), plain + "\\\"\u00e9,");
    ASSERT_EQ(slices.string("b"), "y\n");
    for (const char* wrong : {"\n", "\x1f", "\\x", "\\", "\xc3"}) {
      ASSERT_FALSE(slices.parse(R"({"a":")" + plain + wrong + R"(","b":"y"})", all)) << size << wrong;
    }
    ASSERT_FALSE(slices.parse(R"({"a":"x)" + plain + std::string(1, '\0') + R"("})", all)) << size;
  }
}

// A reader keeps its memory for the next record, but not that of a huge one.
TEST(JsonSlices, RecordsOfAnySizeFollowEachOther) {
  JsonSlices slices;
  for (std::size_t size : {std::size_t{10}, 100 * kKiB, std::size_t{10}, 2 * kMiB, std::size_t{10}, 90 * kKiB}) {
    std::string text(size, 'x');
    ASSERT_TRUE(slices.parse(R"({"a":"\n)" + text + R"(", "b":["\t)" + text + R"("]})", all)) << size;
    EXPECT_EQ(slices.string("a"), "\n" + text);
    EXPECT_EQ(slices.first(slices.find("b"))->text, "\t" + text);
  }
}

}  // namespace
}  // namespace shepherd
