#include <gtest/gtest.h>

#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::string_view kBody =
    R"("timestamp":"2026-02-18T14:00:00.123Z","type":"tool_call","summary":"Reading \"a\"","tool":"Read",)"
    R"("input":{"file_path":"src/auth.go","n":1},"sessionID":"s-1","version":1)";

std::string finished(std::string_view producer, bool late) {
  std::string out;
  append_event(out, 42, 1771423200999, producer, late, kBody);
  return out;
}

TEST(EventsOut, TheServersMembersGoFirst) {
  EXPECT_EQ(finished("", false),
            R"({"sequence":42,"receivedAt":"2026-02-18T14:00:00.999Z",)" + std::string(kBody) + "}");
  EXPECT_EQ(finished("spool \"1\"", true),
            R"({"sequence":42,"receivedAt":"2026-02-18T14:00:00.999Z","producer":"spool \"1\"","late":true,)" +
                std::string(kBody) + "}");
}

TEST(EventsOut, TheBodyIsFoundAgain) {
  EXPECT_EQ(body_of(finished("", false)), kBody);
  EXPECT_EQ(body_of(finished("", true)), kBody);
  EXPECT_EQ(body_of(finished("a\\\",\"late\":true,", false)), kBody);
  EXPECT_EQ(body_of(finished("p", true)), kBody);
  for (const char* bad : {"", "{}", "{\"sequence\":1}", R"({"sequence":1,"receivedAt":"x"})", "null"}) {
    EXPECT_EQ(body_of(bad), "") << bad;
  }
}

TEST(EventsOut, ReadersGetTheCommonFields) {
  auto view = parse_event(finished("p", true));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->sequence, 42U);
  EXPECT_EQ(view->timestamp_ms, 1771423200123);
  EXPECT_EQ(view->received_ms, 1771423200999);
  EXPECT_EQ(view->type, EventType::tool_call);
  EXPECT_EQ(view->type_name, "tool_call");
  EXPECT_EQ(view->summary, "Reading \"a\"");
  EXPECT_EQ(view->tool, "Read");
  EXPECT_EQ(view->session_id, "s-1");
  EXPECT_TRUE(view->late);
  for (const char* bad : {"", "{", "{\"sequence\":1", "[]", "{\"type\":\"log\"}"}) {
    EXPECT_FALSE(parse_event(bad).has_value()) << bad;
  }
}

TEST(EventsOut, SearchableTextIsTheHumanPart) {
  EXPECT_EQ(searchable_text(finished("p", false), 1000), "Reading \"a\" Read src/auth.go");
  EXPECT_EQ(searchable_text(finished("p", false), 13), "Reading \"a\" R");
  EXPECT_EQ(searchable_text(R"({"summary":"\u20ac\u20ac"})", 4), "\xE2\x82\xAC") << "never inside a character";
  EXPECT_EQ(searchable_text(R"({"data":{"k":["a",{"k2":"b"}],"n":5},"metadata":{"k":"no"}})", 100), "a b");
  EXPECT_EQ(searchable_text(
                R"({"summary":"\u001b[1;31mFAIL\u001b[0m a[3m \u001b]0;title\u0007 \u001b[","tool":"\u001b[K"})", 100),
            "FAIL a[3m ]0;title\x07 ")
      << "colours are not words; nothing hides in other sequences";
}

TEST(StreamMessages, Shapes) {
  std::string out;
  append_task_event_open(out, "t\"1");
  EXPECT_EQ(out, R"({"type":"task_event","taskID":"t\"1","data":)");
  EXPECT_EQ(gap_data(1, 9), R"({"from":1,"to":9})");
}

TEST(JsonText, EscapesAndRepairs) {
  auto quoted = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  EXPECT_EQ(quoted("a\"b\\c\n\t\r\b\f\x01/\x7f"), "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001/\x7f\"");
  EXPECT_EQ(quoted("\xE2\x82\xAC"), "\"\xE2\x82\xAC\"");
  EXPECT_EQ(quoted("a\xFF\xE2\x82z\xED\xA0\x80"), "\"a\uFFFD\uFFFD\uFFFDz\uFFFD\uFFFD\uFFFD\"");
}

TEST(EventsOut, ABodyIsOnlyFoundInAFinishedEvent) {
  constexpr std::string_view kBefore = R"({"sequence":42,"receivedAt":"2026-02-18T14:00:00.999Z")";
  auto body = [](std::string text) { return std::string(body_of(text)); };
  EXPECT_EQ(body(std::string(kBefore) + R"(,"n":1})"), "\"n\":1");
  EXPECT_EQ(body(std::string(kBefore) + R"(,"n":1)"), "") << "no end";
  EXPECT_EQ(body(std::string(kBefore) + R"("n":1})"), "") << "no comma";
  EXPECT_EQ(body(std::string(kBefore) + R"(,"producer":"p)"), "") << "a producer without an end";
  EXPECT_EQ(body(R"({"sequence":42,"receivedAt":"2026-02-18T14:00:00.999","n":1})"), "") << "a time without a zone";
  EXPECT_EQ(body(R"({"sequence":42,"n":1,"receivedAt":"2026-02-18T14:00:00.999Z"})"), "");
}

TEST(EventsOut, WhatIsNoEventIsRefused) {
  auto reason = [](std::string_view json) {
    auto view = parse_event(json);
    return view ? std::string("none") : view.error().reason;
  };
  EXPECT_EQ(reason(R"({"sequence":1,"type":"log"})"), "none");
  EXPECT_EQ(reason(R"({"sequence":0,"type":"log"})"), "bad_event");
  EXPECT_EQ(reason(R"({"sequence":1})"), "bad_event");
  EXPECT_EQ(reason(R"({"sequence":1,"type":5})"), "bad_event");
  auto view = parse_event(R"({"sequence":7,"type":"new","receivedAt":"never","timestamp":5,"summary":1,"late":false})");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->received_ms, 0);
  EXPECT_EQ(view->timestamp_ms, 0);
  EXPECT_EQ(view->type, EventType::other);
  EXPECT_EQ(view->type_name, "new");
  EXPECT_EQ(view->summary, "");
  EXPECT_FALSE(view->late);
}

TEST(EventsOut, SearchableTextOfEveryMemberThatPeopleRead) {
  EXPECT_EQ(searchable_text(R"({"summary":"s","tool":"t","input":{"i":"in"},"output":{"summary":"out"},)"
                            R"("data":{"d":"da"},"sessionID":"no","callID":"no"})",
                            100),
            "s t in out da");
  EXPECT_EQ(searchable_text(R"({"summary":"","tool":"t"})", 100), "t");
  EXPECT_EQ(searchable_text(R"({"summary":"abc","tool":"t"})", 3), "abc");
  EXPECT_EQ(searchable_text(R"({"summary":"abc","tool":"t"})", 4), "abc ");
  EXPECT_EQ(searchable_text(R"({"summary":"abc","tool":"tool"})", 6), "abc to");
  EXPECT_EQ(searchable_text(R"({"summary":"abc"})", 0), "");
}

TEST(EventsOut, ColoursEndWithALetterOrASign) {
  auto searched = [](std::string_view escaped) {
    return searchable_text(R"({"summary":")" + std::string(escaped) + "\"}", 100);
  };
  EXPECT_EQ(searched(R"(a\u001b[@b)"), "ab");
  EXPECT_EQ(searched(R"(a\u001b[~b)"), "ab");
  EXPECT_EQ(searched(R"(a\u001b[ ?/0~b)"), "ab");
  EXPECT_EQ(searched(R"(a\u001b[1\u0001b)"),
            "a\x01"
            "b")
      << "no end: only the beginning goes";
  EXPECT_EQ(searched(R"(a\u001b[1\u007fb)"),
            "a\x7f"
            "b");
  EXPECT_EQ(searched(R"(a\u001b[12)"), "a");
  EXPECT_EQ(searched(R"(a\u001b)"), "a");
  EXPECT_EQ(searched(R"(\u001b[0m)"), "");
}

}  // namespace
}  // namespace shepherd
