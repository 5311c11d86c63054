#include "driver/event_json.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "driver/limits.h"
#include "json/escapes.h"
#include "json/scan.h"
#include "json/slices.h"
#include "json/tree.h"
#include "model/condense.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

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

TEST(EventJson, NothingIsTooLargeToPost) {
  Actions out;
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
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_LE(out.events()[0].json.size(), kMaxWholeBytes + kMaxEventBytes);
  EXPECT_LE(as_kept(out.events()[0]).json.size(), kMaxEventBytes);
  EXPECT_LE(out.events()[0].detail.size(), kMaxDetailBytes);
  EXPECT_EQ(find_member(out.events()[0].detail, "truncated"), "true");
}

// A server may be configured to keep more of an input or output than usual, so it gets all of it.
TEST(EventJson, InputsAndOutputsGoWhole) {
  Actions out;
  std::string input = R"({"command":")" + std::string(100'000, 'c') + "\"}";
  std::string output = output_json(Outcome::failed, std::string(100'000, 'o'));
  EventParts parts;
  parts.input = input;
  parts.output = output;
  add_event(out, parts, Detail().raw_json("{}").take());
  EXPECT_EQ(find_member(out.events()[0].json, "input"), input);
  EXPECT_EQ(find_member(out.events()[0].json, "output"), output);
  EXPECT_EQ(find_member(out.events()[0].json, "cut"), "");
  EXPECT_EQ(out.events()[0].detail, R"({"raw":{}})");

  DriverEvent kept = as_kept(out.events()[0]);
  EXPECT_EQ(find_member(kept.json, "cut"), R"({"input":)" + std::to_string(input.size()) + R"(,"output":100000})");
  EXPECT_EQ(find_member(kept.detail, "input"), input);
  EXPECT_EQ(find_member(kept.detail, "output"), output);
}

TEST(EventJson, WhatIsTooLargeToGoWholeIsMarkedAndInTheDetail) {
  Actions out;
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
  const DriverEvent& event = out.events()[0];
  EXPECT_LE(event.json.size(), 2 * kMaxWholeBytes);
  EXPECT_EQ(find_member(event.json, "cut"), R"({"summary":600,"input":)" + std::to_string(input.size()) +
                                                R"(,"output":)" + std::to_string(2 * kMiB) + R"(,"data":)" +
                                                std::to_string(data.size()) + "}");
  EXPECT_EQ(find_member(event.detail, "summary"), '"' + summary + '"');
  EXPECT_EQ(find_member(event.detail, "input"), input);
  EXPECT_EQ(find_member(event.detail, "output"), output);
  EXPECT_EQ(find_member(event.detail, "data"), data);
  EXPECT_EQ(find_member(event.detail, "raw"), "{}");
}

// Only the server knows how much it is to show, also of what is too large to go whole.
TEST(EventJson, AServerCutsWhatIsTooLargeToGoWhole) {
  CondenseRules rules;
  rules.command_characters = rules.result_characters = 5'000;
  Intake intake;
  intake.condense = &rules;
  for (std::string letter : {"x", "\xF0\x9F\x98\x80"}) {
    Actions out;
    std::string text;
    while (text.size() < 2 * kMiB) text += letter;
    std::string input = R"({"command":")" + text + "\"}";
    std::string output = output_json(Outcome::failed, text);
    EventParts parts;
    parts.tool = "Bash";
    parts.input = input;
    parts.output = output;
    add_event(out, parts);
    std::string posted;
    append_posted(posted, out.events()[0], 0, false);
    auto batch = decode_events(posted, Framing::json, intake);
    ASSERT_TRUE(batch) << batch.error().message;
    std::string kept = "{" + std::string(batch->body(batch->drafts.front())) + "}";
    EXPECT_EQ(characters_in(text_member(find_member(kept, "input"), "command")), 5'000U);
    EXPECT_EQ(find_member(find_member(kept, "output"), "success"), "false");
    EXPECT_TRUE(text_member(find_member(kept, "output"), "summary").ends_with("... (truncated)"));
  }
}

// The line of a log is as long as that of any other text; the event has more of it.
TEST(EventJson, ALogHasALineLikeOtherTexts) {
  Actions out;
  std::string line(kTextSummaryCharacters + 50, 'x');
  add_log(out, JoinedText{line, 0}, "stderr", "");
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_EQ(characters_in(text_member(out.events()[0].json, "summary")), kTextSummaryCharacters);
  EXPECT_EQ(text_member(find_member(out.events()[0].json, "data"), "line"), line);
}

TEST(EventJson, ADeniedCallSaysSo) {
  EXPECT_EQ(output_json(Outcome::success, "a"), R"({"success":true,"summary":"a"})");
  EXPECT_EQ(output_json(Outcome::failed, "a"), R"({"success":false,"summary":"a"})");
  EXPECT_EQ(output_json(Outcome::denied, "a"), R"({"success":false,"denied":true,"summary":"a"})");
}

}  // namespace
}  // namespace shepherd
