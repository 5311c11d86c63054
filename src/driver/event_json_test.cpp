#include "driver/event_json.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "driver/claude_tools.h"
#include "driver/limits.h"
#include "json/escapes.h"
#include "json/scan.h"
#include "json/slices.h"
#include "json/tree.h"
#include "model/condense.h"
#include "model/limits.h"

namespace shepherd {
namespace {

bool all(std::string_view, std::string_view) {
  return true;
}
bool only_message(std::string_view key, std::string_view) {
  return key == "message";
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

TEST(JsonSlices, LoneSurrogatesAreReplaced) {
  EXPECT_EQ(without_lone_surrogates(R"({"a":"x\ud83d","b":"\\ud83d"})"), R"({"a":"x\ufffd","b":"\\ud83d"})");
  EXPECT_EQ(without_lone_surrogates(R"("\ude00\ud83d\ude00\uD83Dx")"), R"("\ufffd\ud83d\ude00\ufffdx")");
  EXPECT_EQ(without_lone_surrogates(R"("\ud83d\ude00 \u00e9")"), std::nullopt);
  EXPECT_EQ(without_lone_surrogates(R"("\ud8)"), std::nullopt);
  EXPECT_EQ(without_lone_surrogates("\\"), std::nullopt);
}

TEST(EventJson, OneLine) {
  EXPECT_EQ(one_line("  a\n\tb \x01 c ", 10), "a b c");
  EXPECT_EQ(one_line("12345", 5), "12345");
  EXPECT_EQ(one_line("123456", 5), "1234…");
  EXPECT_EQ(one_line("äöüßé ", 5), "äöüßé");
  EXPECT_EQ(one_line("äöü ßéx", 5), "äöü…");
  EXPECT_EQ(one_line("", 5), "");
}

TEST(EventJson, OneLineHasNoColours) {
  EXPECT_EQ(one_line("\x1b[31mF\x1b[0m\x1b[32m..\x1b[0m\n\x1b[1;31mFAILED\x1b[0m a", 40), "F.. FAILED a");
  EXPECT_EQ(one_line("\x1b[31m", 5), "");
  EXPECT_EQ(one_line("a\x1b[", 5), "a") << "cut short";
  EXPECT_EQ(one_line("a\x1b[31", 5), "a");
  EXPECT_EQ(one_line("a\x1b]0;title", 20), "a ]0;title") << "nothing hides in other sequences";
  EXPECT_EQ(one_line("a[31m", 20), "a[31m");
}

// The server condenses with model/condense.h; a driver must come to the same without building a tree.
TEST(EventJson, CondensesLikeTheServer) {
  std::string long_text(700, 'x');
  std::string accents;
  for (int i = 0; i < 600; ++i) accents += "é";
  std::string inputs[] = {
      R"({})",
      R"({"command":"ls"})",
      R"({"command":")" + long_text + R"(","n":[1,2.50,true,null],"deep":{"text":")" + accents + R"(","e":[]}})",
      R"({"file_path":"/a","old_string":"a\nb\u00e9\ud83d\ude00","new_string":""})",
      R"({"edits":[{"old_string":"x","new_string":"yy"},")" + long_text + R"(",[")" + accents + R"("]]})",
      R"({"content":")" + std::string(499, 'a') + R"(\ud83d\ude00\n\n"})",
      R"({"old_string":7,"a_string":"kept"})",
  };
  for (const auto& input : inputs) {
    std::string mine;
    bool cut = append_condensed_input(mine, input);
    auto tree = parse_tree(input).value();
    bool expected = condense_input("Tool", tree.get_object(), CondenseRules{});
    EXPECT_EQ(cut, expected) << input;
    // Compared as trees: escapes may be spelled otherwise.
    EXPECT_EQ(tree_text(parse_tree(mine).value()), tree_text(tree)) << input;
  }
}

TEST(EventJson, NothingIsTooLargeToPost) {
  DriverOutput out;
  std::string huge = R"({"a":")" + std::string(10 * kMiB, 'x') + R"("})";
  EventParts parts;
  parts.type = EventType::tool_call;
  parts.summary = huge;
  parts.tool = huge;
  parts.input = huge;
  parts.data = huge;
  parts.call_id = huge;
  parts.session_id = huge;
  parts.event_id = huge;
  add_event(out, parts, Detail().raw_json(huge).take());
  ASSERT_EQ(out.events.size(), 1U);
  EXPECT_LE(out.events[0].json.size(), kMaxEventBytes);
  EXPECT_LE(out.events[0].detail.size(), kMaxDetailBytes);
  EXPECT_EQ(find_member(out.events[0].detail, "truncated"), "true");
}

// A server may be configured to keep more of an input or output than usual, so it gets all of it.
TEST(EventJson, InputsAndOutputsGoWhole) {
  DriverOutput out;
  std::string input = R"({"command":")" + std::string(100'000, 'c') + "\"}";
  std::string output = output_json(Outcome::failed, std::string(100'000, 'o'));
  EventParts parts;
  parts.input = input;
  parts.output = output;
  add_event(out, parts, Detail().raw_json("{}").take());
  EXPECT_EQ(find_member(out.events[0].json, "input"), input);
  EXPECT_EQ(find_member(out.events[0].json, "output"), output);
  EXPECT_EQ(find_member(out.events[0].json, "cut"), "");
  EXPECT_EQ(out.events[0].detail, R"({"raw":{}})");

  DriverEvent kept = as_kept(out.events[0]);
  EXPECT_EQ(find_member(kept.json, "cut"), R"({"input":)" + std::to_string(input.size()) + R"(,"output":100000})");
  EXPECT_EQ(find_member(kept.detail, "input"), input);
  EXPECT_EQ(find_member(kept.detail, "output"), output);
}

TEST(EventJson, WhatIsTooLargeToGoWholeIsMarkedAndInTheDetail) {
  DriverOutput out;
  std::string input = R"({"command":")" + std::string(2 * kMiB, 'c') + "\"}";
  std::string output = output_json(Outcome::success, std::string(2 * kMiB, 'o'));
  std::string data = R"({"line":")" + std::string(200 * kKiB, 'd') + "\"}";
  std::string summary(600, 's');
  EventParts parts;
  parts.summary = summary;
  parts.input = input;
  parts.output = output;
  parts.data = data;
  add_event(out, parts, Detail().raw_json("{}").take());
  const DriverEvent& event = out.events[0];
  EXPECT_LE(event.json.size(), kMaxEventBytes);
  EXPECT_EQ(find_member(event.json, "cut"), R"({"summary":600,"input":)" + std::to_string(input.size()) +
                                                R"(,"output":)" + std::to_string(2 * kMiB) + R"(,"data":)" +
                                                std::to_string(data.size()) + "}");
  EXPECT_EQ(find_member(event.detail, "summary"), '"' + summary + '"');
  EXPECT_EQ(find_member(event.detail, "input"), input);
  EXPECT_EQ(find_member(event.detail, "output"), output);
  EXPECT_EQ(find_member(event.detail, "data"), data);
  EXPECT_EQ(find_member(event.detail, "raw"), "{}");
}

TEST(EventJson, ADeniedCallSaysSo) {
  EXPECT_EQ(output_json(Outcome::success, "a"), R"({"success":true,"summary":"a"})");
  EXPECT_EQ(output_json(Outcome::failed, "a"), R"({"success":false,"summary":"a"})");
  EXPECT_EQ(output_json(Outcome::denied, "a"), R"({"success":false,"denied":true,"summary":"a"})");
}

TEST(ClaudeTools, SummariesSayWhatIsDone) {
  auto summary = [](std::string_view tool, std::string_view input) {
    return claude_call_summary(tool, input, "/workspace");
  };
  EXPECT_EQ(summary("Read", R"({"file_path":"/workspace/src/auth.go"})"), "Reading src/auth.go");
  EXPECT_EQ(summary("Read", R"({"file_path":"/workspaces/x"})"), "Reading /workspaces/x");
  EXPECT_EQ(summary("Bash", R"({"description":"Test","command":"go test\n ./..."})"), "Running go test ./...");
  EXPECT_EQ(summary("Bash", "{}"), "Using Bash");
  EXPECT_EQ(summary("mcp__demo__greet", R"({"name":"Ada"})"), "Calling greet of demo");
  EXPECT_EQ(summary("AskUserQuestion", R"({"questions":[{"question":"Which colour?"}]})"), "Asking: Which colour?");
  EXPECT_EQ(summary("Brand New", "{}"), "Using Brand New");
}

TEST(ClaudeTools, OpenCallsAreBounded) {
  OpenCalls calls;
  for (std::size_t i = 0; i < kMaxOpenCalls + 10; ++i) calls.open("c" + std::to_string(i), {"T", "", "", 0});
  EXPECT_EQ(calls.find("c9"), nullptr);
  EXPECT_NE(calls.find("c10"), nullptr);
  EXPECT_TRUE(calls.close("c10"));
  EXPECT_FALSE(calls.close("c10"));
}

// An agent asked for these, and bash ran all of each.
TEST(CallSummary, ShowsTheWholeCommandWhateverItHides) {
  EXPECT_EQ(claude_call_summary("Bash", R"({"command":"echo hi\u009d; touch PWN \u009c"})", ""),
            "Running echo hi\\u009d; touch PWN \\u009c");
  EXPECT_EQ(claude_call_summary("Bash", R"({"command":"echo hi \u001b[; touch\u001b[<PWN #"})", ""),
            "Running echo hi \\x1b[; touch\\x1b[<PWN #");
  EXPECT_EQ(claude_call_summary("Bash", R"({"command":"rm x\u202e\u200d"})", ""), "Running rm x\\u202e\\u200d");
}

}  // namespace
}  // namespace shepherd
