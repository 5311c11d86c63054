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

}  // namespace
}  // namespace shepherd
