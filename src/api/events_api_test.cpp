#include "api/api_fixture.h"

namespace shepherd {
namespace {

class EventsApi : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    create("t1");
  }
  std::vector<std::string> summaries(const std::string& query = "") {
    std::vector<std::string> found;
    json::value page = parsed(get("/api/v1/tasks/t1/events" + query));
    for (const auto& event : page.at("events").as_array()) {
      found.emplace_back(event.at("summary").as_string());
    }
    return found;
  }
};

std::string numbered(int sequence, const std::string& summary) {
  return R"({"sequence":)" + std::to_string(sequence) +
         R"(,"timestamp":"2026-02-18T14:00:00.000Z","type":"log","summary":")" + summary + "\"}";
}

const std::string kEvents = "/api/v1/tasks/t1/events";

TEST_F(EventsApi, OneEventAnArrayAnObjectAndNdjson) {
  auto one = produce(kEvents, R"({"type":"log","summary":"a"})");
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.body, R"({"status":"accepted","sequence":1,"producerSequence":0})");
  EXPECT_EQ(produce(kEvents, R"([{"type":"log","summary":"b"},{"type":"log","summary":"c"}])").status, 200);
  EXPECT_EQ(produce(kEvents, R"({"events":[{"type":"log","summary":"d"}]})").status, 200);
  auto lines = produce(kEvents, "{\"type\":\"log\",\"summary\":\"e\"}\n{\"type\":\"log\",\"summary\":\"f\"}\n",
                       {{"Content-Type", "application/x-ndjson"}});
  EXPECT_EQ(parsed(lines).at("sequence").as_int64(), 6);
  EXPECT_EQ(summaries(), (std::vector<std::string>{"a", "b", "c", "d", "e", "f"}));
}

TEST_F(EventsApi, AStrictProducerIsHeldToItsNumbers) {
  net::HeaderList header{{"Shepherd-Producer", "spool-1"}};
  auto first = produce(kEvents, numbered(1, "a"), header);
  EXPECT_EQ(parsed(first).at("producerSequence").as_int64(), 1);
  auto hole = produce(kEvents, numbered(3, "c"), header);
  EXPECT_EQ(hole.status, 409);
  EXPECT_EQ(code_of(hole), "sequence_hole");
  EXPECT_EQ(parsed(hole).at("expectedSequence").as_int64(), 2);
  auto repeat = produce(kEvents, numbered(1, "a"), header);
  EXPECT_EQ(repeat.status, 200);
  EXPECT_EQ(parsed(repeat).at("sequence").as_int64(), 1);
  EXPECT_EQ(code_of(produce(kEvents, numbered(1, "z"), header)), "sequence_reused");
  auto unnumbered = produce(kEvents, R"([{"sequence":2,"type":"log"},{"type":"log"}])", header);
  EXPECT_EQ(unnumbered.status, 400);
  EXPECT_EQ(parsed(unnumbered).at("index").as_int64(), 1);
  EXPECT_EQ(summaries(), std::vector<std::string>{"a"});
}

TEST_F(EventsApi, AnOlderRunnerPostsNumbersWithoutAHeader) {
  // Two connections, so the second post may overtake the first.
  auto second = std::async(std::launch::async, [&] { return produce(kEvents, numbered(2, "b")); });
  auto first = produce(kEvents, numbered(1, "a"));
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(second.get().status, 200);
  EXPECT_EQ(summaries(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(produce(kEvents, numbered(2, "b")).status, 200);
  EXPECT_EQ(summaries().size(), 2U) << "posting again is harmless";
}

TEST_F(EventsApi, AllOrNothingAndTheErrorNamesTheEvent) {
  auto bad = produce(kEvents, R"([{"type":"log","summary":"a"},{"type":7}])");
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(parsed(bad).at("index").as_int64(), 1);
  EXPECT_TRUE(summaries().empty());
}

TEST_F(EventsApi, Refusals) {
  EXPECT_EQ(produce("/api/v1/tasks/nobody/events", R"({"type":"log"})").status, 404);
  EXPECT_EQ(produce(kEvents, "{\"type\":\"log\"}", {{"Content-Type", "text/plain"}}).status, 415);
  auto command = produce(kEvents, R"({"type":"command","summary":"approve"})");
  EXPECT_EQ(command.status, 403);
  EXPECT_EQ(code_of(command), "reserved_type");
  EXPECT_EQ(produce(kEvents, std::string(17 * 1024 * 1024, ' ')).status, 413);
}

TEST_F(EventsApi, LargeBodiesAreDecodedOffTheIoThread) {
  std::string body = "[";
  for (int i = 0; i < 2000; ++i) {
    body += (i == 0 ? "" : ",") + (R"({"type":"log","summary":")" + std::string(200, 'x') + "\"}");
  }
  EXPECT_EQ(parsed(produce(kEvents, body + "]")).at("sequence").as_int64(), 2000);
}

TEST_F(EventsApi, SecretsAreRedactedAtTheDoor) {
  produce(kEvents, R"({"type":"log","summary":"key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"})");
  EXPECT_EQ(summaries().at(0).find("abcdefghij"), std::string::npos) << summaries().at(0);
}

TEST_F(EventsApi, AStatusEndsTheTaskOnce) {
  std::string status = "/api/v1/tasks/t1/status";
  EXPECT_EQ(produce(status, R"({"event":"started","message":"here we go"})").status, 200);
  auto done = produce(status, R"({"event":"completed","message":"done","details":{"pr_url":"https://x/pull/1"}})");
  EXPECT_EQ(done.status, 200);
  std::int64_t last = parsed(done).at("sequence").as_int64();
  auto again = produce(status, R"({"event":"completed","message":"done"})");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(parsed(again).at("sequence").as_int64(), last);
  auto other = produce(status, R"({"event":"failed","message":"no"})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(parsed(other).at("currentState").as_string(), "completed");
  EXPECT_EQ(produce(status, R"({"event":"progress","message":"still"})").status, 200);
  EXPECT_EQ(produce(kEvents, R"({"type":"log","summary":"late"})").status, 200) << "within half a minute";
  auto task = parsed(get("/api/v1/tasks/t1"));
  EXPECT_EQ(task.at("status").at("phase").as_string(), "Succeeded");
  EXPECT_EQ(task.at("status").at("prURL").as_string(), "https://x/pull/1");
}

TEST_F(EventsApi, PagesGoForwardBackwardAndByTail) {
  append_lines("t1", 10);
  auto page = parsed(get(kEvents + "?limit=4")).as_object();
  EXPECT_EQ(page.at("events").as_array().size(), 4U);
  EXPECT_EQ(page.at("firstSequence").as_int64(), 1);
  EXPECT_EQ(page.at("lastSequence").as_int64(), 10);
  EXPECT_EQ(page.at("nextAfter").as_int64(), 4);
  EXPECT_NE(get(kEvents + "?limit=4").header("link").find("after=4"), std::string_view::npos);
  EXPECT_EQ(summaries("?after=8"), (std::vector<std::string>{"line 9", "line 10"}));
  EXPECT_EQ(summaries("?before=3"), (std::vector<std::string>{"line 1", "line 2"}));
  EXPECT_EQ(summaries("?before=9&limit=2"), (std::vector<std::string>{"line 7", "line 8"}));
  EXPECT_EQ(summaries("?after=2&before=5"), (std::vector<std::string>{"line 3", "line 4"}));
  EXPECT_EQ(summaries("?tail=2"), (std::vector<std::string>{"line 9", "line 10"}));
  EXPECT_EQ(summaries("?tail=0"), std::vector<std::string>{});
  EXPECT_EQ(summaries("?after=10"), std::vector<std::string>{});
  EXPECT_FALSE(parsed(get(kEvents + "?after=2")).as_object().contains("nextAfter"));
}

TEST_F(EventsApi, PagesFilterByTypeAlsoUnknownOnes) {
  append_lines("t1", 3);
  append_lines("t1", 2, "my_own");
  append_lines("t1", 3);
  EXPECT_EQ(summaries("?types=my_own"), (std::vector<std::string>{"line 1", "line 2"}));
  EXPECT_EQ(summaries("?types=my_own&tail=1"), std::vector<std::string>{"line 2"});
  EXPECT_EQ(summaries("?types=log,my_own").size(), 8U);
  EXPECT_EQ(summaries("?types=error").size(), 0U);
}

TEST_F(EventsApi, BadNumbersAndCursorsBeyondTheLog) {
  append_lines("t1", 3);
  for (const char* query :
       {"?after=-1", "?after=x", "?before=1.5", "?limit=0", "?tail=99999999999999999999", "?after=%00"}) {
    EXPECT_EQ(get(kEvents + query).status, 400) << query;
  }
  auto ahead = get(kEvents + "?after=4");
  EXPECT_EQ(ahead.status, 409);
  EXPECT_EQ(code_of(ahead), "cursor_ahead");
  EXPECT_EQ(parsed(ahead).at("lastSequence").as_int64(), 3);
  EXPECT_EQ(get("/api/v1/tasks/nobody/events").status, 404);
}

TEST_F(EventsApi, WhatRetentionDroppedIsAnnounced) {
  append_lines("t1", 3);
  append_lines("t1", 3);
  std::promise<void> dropped;
  journal_.write([](WriteTxn& txn) { return txn.drop_through("t1", 3); },
                 [&](Result<void> result) {
                   EXPECT_TRUE(result);
                   dropped.set_value();
                 });
  dropped.get_future().wait();
  auto page = parsed(get(kEvents)).as_object();
  EXPECT_EQ(json::serialize(page.at("gap")), R"({"from":1,"to":3})");
  EXPECT_EQ(page.at("firstSequence").as_int64(), 4);
  EXPECT_EQ(page.at("events").as_array().size(), 3U);
  EXPECT_EQ(get(kEvents + "/2").status, 410);
  EXPECT_FALSE(parsed(get(kEvents + "?after=3")).as_object().contains("gap"));
  EXPECT_FALSE(parsed(get(kEvents + "?tail=2")).as_object().contains("gap"));
}

TEST_F(EventsApi, OneEventAndItsDetail) {
  std::string long_text(2000, 'y');
  produce(
      kEvents,
      R"([{"type":"log","summary":"plain"},{"type":"tool_call","summary":"run","tool":"Bash","input":{"command":")" +
          long_text + R"("}}])");
  auto event = get(kEvents + "/2");
  EXPECT_EQ(event.status, 200);
  EXPECT_LT(event.body.size(), 1000U) << "condensed";
  auto detail = get(kEvents + "/2/detail");
  EXPECT_EQ(detail.status, 200);
  EXPECT_NE(detail.body.find(long_text), std::string::npos);
  EXPECT_EQ(code_of(get(kEvents + "/1/detail")), "no_detail");
  EXPECT_EQ(get(kEvents + "/3").status, 404);
  EXPECT_EQ(get(kEvents + "/0").status, 400);
  json::array page = parsed(get(kEvents + "?detail=1")).at("events").as_array();
  EXPECT_FALSE(page.at(0).as_object().contains("detail"));
  EXPECT_TRUE(page.at(1).as_object().contains("detail"));
}

TEST_F(EventsApi, PostsOfOneConnectionShareAnAuditRecord) {
  {
    net::HttpClient client(*net::parse_url(internal_->url()));
    for (int i = 0; i < 3; ++i) {
      net::HeaderList headers = bearer(admin_);
      headers.emplace_back("Content-Type", "application/json");
      ASSERT_EQ(client.request("POST", kEvents, headers, R"({"type":"log"})", 10s)->status, 200);
    }
    for (const auto& record : audit_.records()) EXPECT_NE(record.path, kEvents);
  }
  stop();
  int found = 0;
  for (const auto& record : audit_.records()) {
    if (record.path != kEvents) continue;
    ++found;
    EXPECT_EQ(record.person, "ada");
    EXPECT_EQ(record.first, 1);
    EXPECT_EQ(record.last, 3);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace shepherd
