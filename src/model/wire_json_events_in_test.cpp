#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "json/scan.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::int64_t kNow = 1771423200123;  // 2026-02-18T14:00:00.123Z

class EventsIn : public ::testing::Test {
 protected:
  Result<DraftBatch> decode(std::string_view json, Framing framing = Framing::json) {
    return decode_events(json, framing, intake);
  }
  std::string body(std::string_view json) {
    auto batch = decode(json);
    if (!batch) return "error: " + batch.error().message;
    return std::string(batch->body(batch->drafts.at(0)));
  }
  Error error(std::string_view json, Framing framing = Framing::json) {
    auto batch = decode(json, framing);
    EXPECT_FALSE(batch.has_value()) << json;
    return batch ? Error{} : batch.error();
  }

  Redactor redactor = Redactor::create({}).value();
  CondenseRules rules;
  Intake intake{&redactor, &rules, kNow, true, false};
};

std::int64_t field(const Error& error, std::string_view name) {
  for (const auto& each : error.fields) {
    if (each.name == name) return std::get<std::int64_t>(each.value);
  }
  return -1;
}
std::string text_field(const Error& error, std::string_view name) {
  for (const auto& each : error.fields) {
    if (each.name == name) return std::get<std::string>(each.value);
  }
  return "";
}

TEST_F(EventsIn, TheSmallestEventGetsItsDefaults) {
  auto batch = decode(R"({"type":"log"})");
  ASSERT_TRUE(batch.has_value());
  ASSERT_EQ(batch->drafts.size(), 1U);
  const Draft& draft = batch->drafts[0];
  EXPECT_EQ(batch->body(draft), R"("timestamp":"2026-02-18T14:00:00.123Z","type":"log","summary":"","version":1)");
  EXPECT_EQ(batch->summary(draft), "");
  EXPECT_EQ(draft.type, EventType::log);
  EXPECT_EQ(draft.timestamp_ms, kNow);
  EXPECT_EQ(draft.producer_sequence, 0U);
}

TEST_F(EventsIn, MembersComeInTheOrderOfTheContract) {
  EXPECT_EQ(body(R"({"version":1, "zeta":[1,2], "durationMS":1.50, "spanID":"s","traceID":"t","sessionID":"S",
      "parentCallID":"p","callID":"c","data":{"k":1},"metadata":{},"output":{"success":true,"summary":"ok"},
      "input":{"file_path":"a b"},"tool":"Read","summary":"Reading \"a\"","type":"tool_call",
      "timestamp":"2026-02-18T15:00:00.123456+01:00","alpha":null})"),
            R"("timestamp":"2026-02-18T14:00:00.123Z","type":"tool_call","summary":"Reading \"a\"","tool":"Read",)"
            R"("input":{"file_path":"a b"},"output":{"success":true,"summary":"ok"},"metadata":{},"data":{"k":1},)"
            R"("callID":"c","parentCallID":"p","sessionID":"S","traceID":"t","spanID":"s","durationMS":1.50,)"
            R"("zeta":[1,2],"alpha":null,"version":1)");
}

TEST_F(EventsIn, TheServersOwnMembersAndTheKeysLeaveTheBody) {
  auto batch = decode(R"({"type":"log","sequence":7,"eventID":"e-1","receivedAt":"x","late":true,"producer":"me",
                          "detail":{"raw":"line"}})");
  ASSERT_TRUE(batch.has_value());
  const Draft& draft = batch->drafts[0];
  EXPECT_EQ(draft.producer_sequence, 7U);
  EXPECT_EQ(draft.event_id, "e-1");
  EXPECT_EQ(draft.detail, R"({"raw":"line"})");
  EXPECT_EQ(batch->body(draft), R"("timestamp":"2026-02-18T14:00:00.123Z","type":"log","summary":"","version":1)");
  intake.keep_detail = false;
  EXPECT_EQ(decode(R"({"type":"log","detail":{"raw":"line"}})")->drafts[0].detail, "");
}

TEST_F(EventsIn, SummaryIsFoundInsideTheBody) {
  auto batch = decode(R"([{"type":"log","summary":"one \n"},{"summary":"two","type":"log"}])");
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->summary(batch->drafts[0]), "one \\n");
  EXPECT_EQ(batch->summary(batch->drafts[1]), "two");
}

TEST_F(EventsIn, AllFramings) {
  EXPECT_EQ(decode(R"({"events":[{"type":"a"},{"type":"b"}]})")->drafts.size(), 2U);
  EXPECT_EQ(decode(R"([{"type":"a"},{"type":"b"},{"type":"c"}])")->drafts.size(), 3U);
  EXPECT_EQ(decode("{\"type\":\"a\"}\r\n\n  \n{ \"type\" : \"b\" }", Framing::ndjson)->drafts.size(), 2U);
  EXPECT_EQ(body(R"({"type":"x","events":[1]})"),
            R"("timestamp":"2026-02-18T14:00:00.123Z","type":"x","summary":"","events":[1],"version":1)")
      << "an event may have a member of that name";
}

TEST_F(EventsIn, NothingToAppendIsAnError) {
  for (const char* empty : {"", " \n", "[]", R"({"events":[]})"}) EXPECT_EQ(error(empty).reason, "no_events") << empty;
  EXPECT_EQ(error("\n\n", Framing::ndjson).reason, "no_events");
}

TEST_F(EventsIn, WhatIsNotJsonIsRefused) {
  for (const char* bad :
       {"{", "[{\"type\":\"a\"}", "{\"type\":\"a\"} x", "{\"type\":\"a\",\"n\":1 2}", "nul", "{\"type\":'a'}",
        "{\"type\":\"a\",\"n\":1e999}", "{\"type\":\"a\",\"n\":123456789012345678901234567890}", "{\"type\":\"a\xFF\"}",
        "{\"type\":\"a\nb\"}"}) {
    EXPECT_EQ(error(bad).reason, "bad_json") << bad;
  }
  EXPECT_EQ(field(error("{\"type\":\"a\"}\n{", Framing::ndjson), "index"), 1);
  EXPECT_EQ(field(error(R"([{"type":"a"}, {"type":"b","n":01}, {"type":"c"}])"), "index"), 1);
  EXPECT_EQ(field(error("{ \"events\" : [{\"type\":\"a\"}, {\"type\":\"b\"}, {\"type\":\"\xFF\"}]}"), "index"), 2);
  for (const char* bad : {"1", "\"x\"", "null", "[1]", "[[]]"}) EXPECT_EQ(error(bad).reason, "bad_event") << bad;
}

TEST_F(EventsIn, WrongMembersAreNamedWithTheirIndex) {
  struct Case {
    const char* event;
    const char* member;
  };
  for (const auto& [event, member] : std::initializer_list<Case>{
           {R"({})", "type"},
           {R"({"type":null})", "type"},
           {R"({"type":""})", "type"},
           {R"({"type":5})", "type"},
           {R"({"type":"a","summary":5})", "summary"},
           {R"({"type":"a","tool":{}})", "tool"},
           {R"({"type":"a","input":"x"})", "input"},
           {R"({"type":"a","output":"x"})", "output"},
           {R"({"type":"a","output":{"success":"yes"}})", "output.success"},
           {R"({"type":"a","output":{"summary":1}})", "output.summary"},
           {R"({"type":"a","metadata":[]})", "metadata"},
           {R"({"type":"a","data":1})", "data"},
           {R"({"type":"a","sequence":0})", "sequence"},
           {R"({"type":"a","sequence":-1})", "sequence"},
           {R"({"type":"a","sequence":1.5})", "sequence"},
           {R"({"type":"a","sequence":"1"})", "sequence"},
           {R"({"type":"a","sequence":9007199254740993})", "sequence"},
           {R"({"type":"a","durationMS":-1})", "durationMS"},
           {R"({"type":"a","timestamp":"yesterday"})", "timestamp"},
           {R"({"type":"a","timestamp":"0000-01-01T00:00:00+01:00"})", "timestamp"},
           {R"({"type":"a","detail":"x"})", "detail"},
           {R"({"type":"a","version":0})", "version"},
       }) {
    Error found = error(std::string(R"([{"type":"ok"},)") + event + "]");
    EXPECT_EQ(text_field(found, "member"), member) << event;
    EXPECT_EQ(field(found, "index"), 1) << event;
    EXPECT_EQ(found.code, ErrorCode::invalid_argument) << event;
    EXPECT_NE(found.message.find(member), std::string::npos) << found.message;
  }
}

TEST_F(EventsIn, DuplicatesAreRefusedHoweverTheyAreSpelled) {
  EXPECT_EQ(error(R"({"type":"a","summary":"x","summary":"y"})").reason, "duplicate_member");
  EXPECT_EQ(error(R"({"type":"a","\u0074ype":"b"})").reason, "duplicate_member");
  EXPECT_EQ(error(R"({"type":"a","x/":1,"x\/":2})").reason, "duplicate_member");
  std::string many = R"({"type":"a")";
  for (int i = 0; i < 40; ++i) many += ",\"k" + std::to_string(i) + "\":1";
  EXPECT_TRUE(decode(many + "}").has_value());
  EXPECT_EQ(error(many + ",\"k7\":1}").reason, "duplicate_member");
}

TEST_F(EventsIn, EscapedNamesAreKnownNames) {
  EXPECT_EQ(body(R"({"\u0074ype":"log"})"),
            R"("timestamp":"2026-02-18T14:00:00.123Z","type":"log","summary":"","version":1)");
}

TEST_F(EventsIn, CommandsDoNotEnterHere) {
  Error refused = error(R"([{"type":"log"},{"type":"command"}])");
  EXPECT_EQ(refused.code, ErrorCode::permission_denied);
  EXPECT_EQ(refused.reason, "reserved_type");
  EXPECT_EQ(field(refused, "index"), 1);
  EXPECT_EQ(error(R"({"type":"c\u006fmmand"})").reason, "reserved_type") << "spelling does not help";
  EXPECT_TRUE(decode(R"({"type":"command_result"})").has_value());
  intake.allow_reserved = true;
  EXPECT_TRUE(decode(R"({"type":"command"})").has_value());
}

TEST_F(EventsIn, BoundsHold) {
  std::string deep = R"({"type":"a","data":{"x":)" + std::string(70, '[') + std::string(70, ']') + "}}";
  EXPECT_EQ(error(deep).reason, "json_too_deep");
  std::string fits = R"({"type":"a","data":{"x":)" + std::string(62, '[') + std::string(62, ']') + "}}";
  EXPECT_TRUE(decode(fits).has_value());
  std::string over = R"({"type":"a","data":{"x":)" + std::string(63, '[') + std::string(63, ']') + "}}";
  EXPECT_EQ(error(over).reason, "json_too_deep");

  std::string big = R"({"type":"a","data":{"x":")" + std::string(kMaxEventBytes, 'x') + "\"}}";
  EXPECT_EQ(error(big).reason, "event_too_large");
  EXPECT_EQ(error(big).code, ErrorCode::too_large);
  std::string many = "[";
  for (std::size_t i = 0; i <= kMaxEventsPerPost; ++i) many += R"({"type":"a"},)";
  many.back() = ']';
  EXPECT_EQ(error(many).reason, "too_many_events");
  EXPECT_EQ(text_field(error(R"({"type":")" + std::string(65, 'x') + "\"}"), "member"), "type");
  EXPECT_EQ(text_field(error(R"({"type":"a","eventID":")" + std::string(65, 'x') + "\"}"), "member"), "eventID");
}

TEST_F(EventsIn, SecretsAreReplacedWhereverTheyStand) {
  auto batch = decode(R"({"type":"tool_call","summary":"mail jane@example.org","tool":"Bash",
      "input":{"command":"export PASSWORD=hunter2x","n":0.1,"big":12345678901234567890},
      "data":{"apiKey":"7c9e6679f3b14c0e","card":4111111111111111},
      "jane@example.org":{"x":["bob@example.org"]},"detail":{"raw":"PASSWORD=hunter2x"}})");
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(
      batch->body(batch->drafts[0]),
      R"("timestamp":"2026-02-18T14:00:00.123Z","type":"tool_call","summary":"mail [redacted:email:16]","tool":"Bash",)"
      R"("input":{"command":"export PASSWORD=[redacted:password:8]","n":0.1,"big":12345678901234567890},)"
      R"("data":{"apiKey":"[redacted:api_key:16]","card":"[redacted:card:16]"},)"
      R"("[redacted:email:16]":{"x":["[redacted:email:15]"]},"version":1)");
  EXPECT_EQ(batch->drafts[0].detail, R"({"raw":"PASSWORD=[redacted:password:8]"})");
}

TEST_F(EventsIn, IdsAndTypesHoldNoSecretEither) {
  const std::string secret = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1234";
  for (const char* member : {"type", "callID", "parentCallID", "sessionID", "traceID", "spanID", "tool"}) {
    std::string event = std::string(R"({"type":"tool_call",")") + member + R"(":")" + secret + R"("})";
    if (std::string_view(member) == "type") event = R"({"type":")" + secret + R"("})";
    auto batch = decode(event);
    ASSERT_TRUE(batch.has_value()) << event;
    EXPECT_EQ(batch->body(batch->drafts[0]).find(secret), std::string::npos) << batch->body(batch->drafts[0]);
  }
}

TEST_F(EventsIn, NamesThatBecomeTheSameStayApart) {
  EXPECT_EQ(
      body(R"({"type":"jane@example.org","a@example.org":1,"b@example.org":{"c@example.org":1,"d@example.org":2}})"),
      R"("timestamp":"2026-02-18T14:00:00.123Z","type":"redacted","summary":"","[redacted:email:13]":1,)"
      R"("[redacted:email:13]~2":{"[redacted:email:13]":1,"[redacted:email:13]~2":2},"version":1)");
}

TEST_F(EventsIn, OneSecretDoesNotChangeItsNeighbours) {
  auto batch = decode(R"([{"type":"log","data":{"x":1.0}},{"type":"log","summary":"jane@example.org"}])");
  ASSERT_TRUE(batch.has_value());
  EXPECT_NE(batch->body(batch->drafts[0]).find("1.0"), std::string::npos);
}

TEST_F(EventsIn, LongTextsAreCutAndKeptAsDetail) {
  std::string command(600, 'c');
  std::string result(300, 'r');
  std::string event = R"({"type":"tool_result","tool":"Bash","input":{"command":")" + command +
                      R"("},"output":{"success":true,"summary":")" + result + "\"}}";
  auto batch = decode(event);
  ASSERT_TRUE(batch.has_value());
  auto body = std::string(batch->body(batch->drafts[0]));
  EXPECT_NE(body.find("{\"command\":\"" + std::string(500, 'c') + "\"}"), std::string::npos);
  EXPECT_NE(body.find("\"summary\":\"" + std::string(200, 'r') + "... (truncated)\""), std::string::npos);
  EXPECT_EQ(batch->drafts[0].detail,
            R"({"input":{"command":")" + command + R"("},"output":{"success":true,"summary":")" + result + "\"}}");

  // An event condensed once (in the runner) passes again without a change.
  auto again = decode("{" + body + "}");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->body(again->drafts[0]), body);
  EXPECT_EQ(again->drafts[0].detail, "");
}

// A reader of the event can tell that there is more, how much, and where.
TEST_F(EventsIn, WhatIsCutIsMarked) {
  auto cut = [&](const std::string& event) {
    auto batch = decode(event);
    EXPECT_TRUE(batch) << event.substr(0, 100);
    return batch ? std::string(find_member("{" + std::string(batch->body(batch->drafts[0])) + "}", "cut")) : "";
  };
  std::string accents;
  for (int i = 0; i < 300; ++i) accents += "é";
  std::string command = R"({"command":")" + std::string(600, 'c') + "\"}";
  EXPECT_EQ(cut(R"({"type":"tool_call","tool":"Bash","input":{"command":"ls"},"summary":"short"})"), "");
  EXPECT_EQ(cut(R"({"type":"tool_call","tool":"Bash","input":)" + command + "}"),
            R"({"input":)" + std::to_string(command.size()) + "}");
  EXPECT_EQ(cut(R"({"type":"tool_result","output":{"success":true,"summary":")" + accents + "\"}}"),
            R"({"output":300})");
  EXPECT_EQ(cut(R"({"type":"log","summary":")" + accents + accents + "\"}"), R"({"summary":600})");
  EXPECT_EQ(cut(R"({"type":"tool_call","input":{"old_string":"a","new_string":"b"}})"), R"({"input":35})");

  // The producer marks its own cuts; a mark that is not an object is ignored.
  EXPECT_EQ(cut(R"({"type":"thinking","data":{"text":"a"},"cut":{"text":99}})"), R"({"text":99})");
  EXPECT_EQ(cut(R"({"type":"tool_call","cut":{"text":9,"input":70000},"input":)" + command + "}"),
            R"({"text":9,"input":70000})");
  EXPECT_EQ(cut(R"({"type":"tool_call","cut":{"text":9},"input":{"old_string":"a","new_string":"b"}})"),
            R"({"text":9,"input":35})");
  EXPECT_EQ(cut(R"({"type":"log","cut":"short"})"), "");
  EXPECT_EQ(cut(R"({"type":"log","cut":{"jane@example.org":1}})"), R"({"[redacted:email:16]":1})");
}

TEST_F(EventsIn, AProducersOwnDetailGetsWhatWasCut) {
  std::string input = R"({"x":")" + std::string(600, 'x') + "\"}";
  std::string event = R"({"type":"tool_call","input":)" + input;
  EXPECT_EQ(decode(event + R"(,"detail":{"raw":"r"}})")->drafts[0].detail, R"({"input":)" + input + R"(,"raw":"r"})");
  EXPECT_EQ(decode(event + R"(,"detail":{}})")->drafts[0].detail, R"({"input":)" + input + "}");
  EXPECT_EQ(decode(event + R"(,"detail":{"input":{"x":"of the producer"}}})")->drafts[0].detail,
            R"({"input":{"x":"of the producer"}})");
}

TEST_F(EventsIn, LargerLimitsKeepMore) {
  rules.command_characters = rules.result_characters = rules.string_characters = 5'000;
  std::string members = R"("tool":"Bash","input":{"command":")" + std::string(4'000, 'c') + R"(","other":")" +
                        std::string(5'000, 'o') + R"("},"output":{"success":true,"summary":")" +
                        std::string(4'500, 'r') + "\"}";
  auto batch = decode(R"({"type":"tool_result",)" + members + "}");
  ASSERT_TRUE(batch.has_value());
  EXPECT_NE(batch->body(batch->drafts[0]).find(members), std::string::npos);
  EXPECT_EQ(batch->drafts[0].detail, "");
}

// A condensing limit above the maximum event size must not make the server reject an event it accepted before.
TEST_F(EventsIn, WhatWouldBeTooLargeIsCutAsUsual) {
  rules.command_characters = rules.result_characters = rules.string_characters = kMaxEventBytes;
  std::string two = R"({"a":")" + std::string(200'000, 'a') + R"(","b":")" + std::string(200'000, 'b') + "\"}";
  auto batch = decode(R"({"type":"tool_call","tool":"Bash","input":)" + two + "}");
  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_NE(batch->body(batch->drafts[0]).find(R"("input":{"a":")" + std::string(500, 'a') + "\""), std::string::npos);
  EXPECT_EQ(batch->drafts[0].detail, R"({"input":)" + two + "}");
}

TEST_F(EventsIn, ALongSummaryIsOneLine) {
  auto batch = decode(R"({"type":"log","summary":")" + std::string(600, 's') + "\"}");
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->summary(batch->drafts[0]), std::string(500, 's') + "... (truncated)");
  EXPECT_EQ(batch->drafts[0].detail, R"({"summary":")" + std::string(600, 's') + "\"}");
  intake.condense = nullptr;
  EXPECT_EQ(decode(R"({"type":"log","summary":")" + std::string(600, 's') + "\"}")->drafts[0].summary_size, 600U);
}

TEST_F(EventsIn, AnOversizedDetailIsCutAtACharacter) {
  std::string raw;
  while (raw.size() < kMaxDetailBytes + 100) raw += "\xE2\x82\xAC\\n";
  auto batch = decode(R"({"type":"log","detail":{"small":1,"raw":")" + raw + R"(","after":{"x":"y"}}})");
  ASSERT_TRUE(batch.has_value());
  const std::string& detail = batch->drafts[0].detail;
  EXPECT_LE(detail.size(), kMaxDetailBytes);
  EXPECT_GT(detail.size(), kMaxDetailBytes - 200);
  auto parsed = boost::json::parse(detail).as_object();
  EXPECT_TRUE(parsed.at("truncated").as_bool());
  EXPECT_EQ(parsed.at("small").as_int64(), 1);
  EXPECT_GT(parsed.at("raw").as_string().size(), kMaxDetailBytes / 2);
}

TEST_F(EventsIn, OfAnOutputOnlyTheSummaryIsCut) {
  std::string text(600, 't');
  std::string output = R"("output":{"success":true,"text":")" + text + "\"}";
  auto batch = decode(R"({"type":"tool_result",)" + output + "}");
  ASSERT_TRUE(batch.has_value());
  EXPECT_NE(batch->body(batch->drafts[0]).find(output), std::string::npos);
  EXPECT_EQ(batch->drafts[0].detail, "");
  std::string summary = R"("summary":")" + std::string(300, 's') + "\"";
  batch = decode(R"({"type":"tool_call","input":{"command":")" + text + "\"," + summary + "}}");
  ASSERT_TRUE(batch.has_value());
  EXPECT_NE(batch->body(batch->drafts[0]).find(summary), std::string::npos) << "of an input it is a text like others";
}

TEST_F(EventsIn, WhatIsCutTwiceIsKeptAsItWas) {
  rules.string_characters = 200'000;
  std::string two = R"({"a":")" + std::string(250'000, 'a') + R"(","b":")" + std::string(250'000, 'b') + "\"}";
  auto batch = decode(R"({"type":"tool_call","tool":"X","input":)" + two + "}");
  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_NE(batch->body(batch->drafts[0]).find(R"("input":{"a":")" + std::string(500, 'a') + "\""), std::string::npos);
  EXPECT_NE(batch->body(batch->drafts[0]).find(R"("cut":{"input":)" + std::to_string(two.size()) + "}"),
            std::string::npos);
  EXPECT_EQ(batch->drafts[0].detail, R"({"input":)" + two + "}");
}

TEST_F(EventsIn, TextsOfExactlyTheBoundStay) {
  auto kept = [&](const std::string& event) { return decode(event)->drafts[0].detail.empty(); };
  auto summary = [](std::size_t size) { return R"({"type":"log","summary":")" + std::string(size, 's') + "\"}"; };
  EXPECT_TRUE(kept(summary(kMaxSummaryCharacters)));
  EXPECT_FALSE(kept(summary(kMaxSummaryCharacters + 1)));
  auto result = [](std::size_t size) {
    return R"({"type":"tool_result","output":{"summary":")" + std::string(size, 'r') + "\"}}";
  };
  EXPECT_TRUE(kept(result(kCondensedResultCharacters)));
  EXPECT_FALSE(kept(result(kCondensedResultCharacters + 1)));
  rules.by_tool["Grep"] = 10;
  auto pattern = [](std::size_t size) {
    return R"({"type":"tool_call","tool":"Grep","input":{"pattern":")" + std::string(size, 'p') + "\"}}";
  };
  EXPECT_TRUE(kept(pattern(10)));
  EXPECT_FALSE(kept(pattern(11)));
}

TEST_F(EventsIn, BoundsAreInclusive) {
  EXPECT_TRUE(decode(R"({"type":")" + std::string(kMaxTypeBytes, 'x') + "\"}").has_value());
  EXPECT_TRUE(decode(R"({"type":"a","eventID":")" + std::string(kMaxEventIdBytes, 'x') + "\"}").has_value());
  EXPECT_EQ(decode(R"({"type":"a","sequence":9007199254740992})")->drafts[0].producer_sequence, 9007199254740992U);
  EXPECT_TRUE(decode(R"({"type":"a","durationMS":0})").has_value());
  EXPECT_TRUE(decode(R"({"type":"a","timestamp":"0000-01-01T00:00:00Z"})").has_value());
  EXPECT_TRUE(decode(R"({"type":"a","timestamp":"9999-12-31T23:59:59.999Z"})").has_value());
  EXPECT_EQ(text_field(error(R"({"type":"a","timestamp":"9999-12-31T23:59:59.999-01:00"})"), "member"), "timestamp");
  std::string many = "[";
  for (std::size_t i = 0; i < kMaxEventsPerPost; ++i) many += R"({"type":"a"},)";
  many.back() = ']';
  EXPECT_TRUE(decode(many).has_value());

  std::string small = R"({"type":"a","data":{"x":""}})";
  std::string large = R"({"type":"a","data":{"x":")" + std::string(kMaxEventBytes - body(small).size(), 'x') + "\"}}";
  EXPECT_EQ(body(large).size(), kMaxEventBytes);
  large.insert(large.size() - 3, "x");
  EXPECT_EQ(error(large).reason, "event_too_large");
}

TEST_F(EventsIn, AnOutputIsCheckedHoweverItIsSpelled) {
  EXPECT_EQ(text_field(error(R"({"type":"a","output":{"succ\u0065ss":"yes"}})"), "member"), "output.success");
  EXPECT_EQ(text_field(error(R"({"type":"a","output":{"success":true,"success":1}})"), "member"), "output.success");
  for (const char* good : {R"({"success":false,"summary":null})", R"({"success":true,"summary":"s"})", "{}"}) {
    EXPECT_TRUE(decode(std::string(R"({"type":"a","output":)") + good + "}").has_value()) << good;
  }
}

TEST_F(EventsIn, AnIdWithASecretInItIsReplaced) {
  auto batch = decode(R"({"type":"a","eventID":"jane@example.org"})");
  ASSERT_TRUE(batch.has_value());
  EXPECT_FALSE(batch->drafts[0].event_id.empty());
  EXPECT_EQ(batch->drafts[0].event_id.find("jane"), std::string::npos);
  auto other = decode(R"({"type":"a","eventID":"joan@example.org"})");
  EXPECT_NE(other->drafts[0].event_id, batch->drafts[0].event_id) << "ids tell events apart";
}

TEST_F(EventsIn, OneEventLeavesNothingBehindForTheNext) {
  std::string cut = R"({"type":"log","summary":")" + std::string(600, 's') + "\"}";
  auto batch = decode("[" + cut + R"(,{"type":"log","summary":"short"},{"type":"tool_call","tool":"X"},{"type":"b"}])");
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->body(batch->drafts[1]),
            R"("timestamp":"2026-02-18T14:00:00.123Z","type":"log","summary":"short","version":1)");
  EXPECT_EQ(batch->drafts[1].detail, "");
  EXPECT_EQ(batch->body(batch->drafts[3]),
            R"("timestamp":"2026-02-18T14:00:00.123Z","type":"b","summary":"","version":1)");
}

}  // namespace
}  // namespace shepherd
