#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/runner_json.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::string text_field(const Error& error, std::string_view name) {
  for (const auto& each : error.fields) {
    if (each.name == name) return std::get<std::string>(each.value);
  }
  return "";
}

constexpr std::string_view kFull = R"({
  "id":"fix-1","namespace":"team","title":"Fix it","task":{"description":"Fix the login\nplease","context":"ctx",
  "sourceURL":"https://example.org/1","sourceType":"issue","sourceID":"1"},"repo":{"url":"https://example.org/r.git","ref":"main"},
  "agent":"claude","model":"opus","mode":"autonomous","maxTurns":5,"allowedTools":["Read","Bash"],
  "mcpServers":{"x":{"command":"y"}},"callbackURL":"https://example.org/cb","labels":{"a":"b","fleet":"f"},
  "workflowID":"w","budget":1.5,"timeout":"1h30m","resumeOf":"old","runner":"r1","unknown":true})";

TEST(TaskRequest, EveryMember) {
  auto spec = decode_task_request(kFull);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->id, "fix-1");
  EXPECT_EQ(spec->namespace_name, "team");
  EXPECT_EQ(spec->description, "Fix the login\nplease");
  EXPECT_EQ(spec->context, "ctx");
  EXPECT_EQ(spec->source_type, "issue");
  EXPECT_EQ(spec->repo_ref, "main");
  EXPECT_EQ(spec->max_turns, 5);
  EXPECT_EQ(spec->allowed_tools, (std::vector<std::string>{"Read", "Bash"}));
  EXPECT_EQ(spec->mcp_servers_json, R"({"x":{"command":"y"}})");
  EXPECT_EQ(spec->labels.at("fleet"), "f");
  EXPECT_DOUBLE_EQ(spec->budget_usd, 1.5);
  EXPECT_EQ(spec->timeout_seconds, 5400);
  EXPECT_EQ(spec->resume_of, "old");
  EXPECT_EQ(spec->runner, "r1");
}

TEST(TaskRequest, StoredFormKeepsEverything) {
  auto spec = decode_task_request(kFull).value();
  std::string stored = encode_task_spec(spec);
  EXPECT_EQ(encode_task_spec(decode_task_spec(stored)), stored);
  TaskSpec again = decode_task_spec(stored);
  EXPECT_EQ(again.context, spec.context);
  EXPECT_EQ(again.mcp_servers_json, spec.mcp_servers_json);
  EXPECT_EQ(again.timeout_seconds, spec.timeout_seconds);
  EXPECT_EQ(again.labels, spec.labels);
}

TEST(TaskRequest, PromptIsShorthand) {
  EXPECT_EQ(decode_task_request(R"({"prompt":"Do it"})")->description, "Do it");
  EXPECT_EQ(decode_task_request(R"({"prompt":"Do it","timeout":90})")->timeout_seconds, 90);
  EXPECT_EQ(decode_task_request(R"({"prompt":"Do it","runner":{"timeout":"30m"}})")->timeout_seconds, 1800)
      << "older clients say it there";
}

TEST(TaskRequest, MistakesAreNamed) {
  struct Case {
    const char* json;
    const char* member;
  };
  for (const auto& [json, member] : std::initializer_list<Case>{
           {R"({})", "task.description"},
           {R"({"prompt":""})", "task.description"},
           {R"({"prompt":1})", "prompt"},
           {R"({"task":"x"})", "task"},
           {R"({"task":{"description":1}})", "task.description"},
           {R"({"prompt":"x","repo":{"url":5}})", "repo.url"},
           {R"({"prompt":"x","labels":{"a":1}})", "labels.a"},
           {R"({"prompt":"x","labels":[]})", "labels"},
           {R"({"prompt":"x","maxTurns":-1})", "maxTurns"},
           {R"({"prompt":"x","maxTurns":"5"})", "maxTurns"},
           {R"({"prompt":"x","timeout":"soon"})", "timeout"},
           {R"({"prompt":"x","timeout":"5"})", "timeout"},
           {R"({"prompt":"x","budget":-1})", "budget"},
           {R"({"prompt":"x","allowedTools":"Bash"})", "allowedTools"},
           {R"({"prompt":"x","allowedTools":[1]})", "allowedTools"},
           {R"({"prompt":"x","mcpServers":"x"})", "mcpServers"},
           {R"({"prompt":"x","id":"a/b"})", "id"},
           {R"({"prompt":"x","namespace":""})", "namespace"},
       }) {
    auto spec = decode_task_request(json);
    ASSERT_FALSE(spec.has_value()) << json;
    EXPECT_EQ(text_field(spec.error(), "member"), member) << json;
  }
  EXPECT_EQ(decode_task_request("[]").error().reason, "bad_json");
  auto large = decode_task_request(R"({"task":{"description":"d","context":")" +
                                   std::string(kMaxContextBytes + 1, 'c') + "\"}}");
  EXPECT_EQ(large.error().code, ErrorCode::too_large);
}

TEST(TaskPatch, TitleAndLabelsMerge) {
  TaskSpec spec;
  spec.labels = {{"a", "1"}, {"b", "2"}};
  ASSERT_TRUE(apply_task_patch(spec, R"({"title":"T","labels":{"a":null,"c":"3"}})").has_value());
  EXPECT_EQ(spec.title, "T");
  EXPECT_EQ(spec.labels, (std::map<std::string, std::string>{{"b", "2"}, {"c", "3"}}));
  EXPECT_FALSE(apply_task_patch(spec, R"({"title":5,"labels":{"d":"4"}})").has_value());
  EXPECT_EQ(spec.labels.size(), 2U) << "a refused patch changes nothing";
  ASSERT_TRUE(apply_task_patch(spec, R"({"title":null})").has_value());
  EXPECT_EQ(spec.title, "");
}

TEST(TaskOut, TheShapeOfTheContract) {
  Task task;
  task.spec = decode_task_request(R"({"id":"t1","prompt":"Fix the login\nplease"})").value();
  task.created_ms = 1771423200123;
  std::string out;
  append_task(out, task);
  EXPECT_EQ(out, R"({"id":"t1","namespace":"default","title":"Fix the login","repo":{"url":""},)"
                 R"("task":{"description":"Fix the login\nplease"},"agent":"","model":"","callbackURL":"","labels":{},)"
                 R"("status":{"phase":"Pending","state":"queued","message":"","prURL":"","error":""},"activity":"",)"
                 R"("createdAt":"2026-02-18T14:00:00.123Z","startedAt":null,"lastEventAt":null,"completionTime":null,)"
                 R"("firstSequence":0,"lastSequence":0,"usage":{"costUSD":0,"inputTokens":0,"outputTokens":0,)"
                 R"("cacheReadTokens":0,"cacheWriteTokens":0,"apiCalls":0,"toolUses":0,"turns":0},"errors":0,)"
                 R"("toolCalls":0,"capabilities":null,"commands":[],"approvals":[]})");
}

TEST(TaskOut, TheContextIsForRunnersAlone) {
  Task task;
  task.spec = decode_task_request(kFull).value();
  std::string shown;
  append_task(shown, task);
  EXPECT_EQ(shown.find("\"context\""), std::string::npos);
  EXPECT_NE(encode_task_data(task.spec, "").find("\"context\":\"ctx\""), std::string::npos);
}

TEST(TaskOut, CompleteData) {
  Task task;
  task.spec.id = "t1";
  task.state.state = State::failed;
  task.state.error = "boom";
  task.state.usage.cost_usd = 0.34;
  task.state.last_sequence = 12;
  EXPECT_EQ(complete_data(task),
            R"({"taskID":"t1","status":"failed","prURL":"","error":"boom","costUSD":0.34,"lastSequence":12})");
}

TEST(StatusUpdate, BecomesAStatusEvent) {
  Intake intake;
  intake.now_ms = 1771423200123;
  auto body = [&](std::string_view json) {
    auto batch = decode_status_update(json, intake);
    return batch ? std::string(batch->body(batch->drafts.at(0))) : batch.error().message;
  };
  EXPECT_EQ(
      body(R"({"event":"completed","message":"done","details":{"pr_url":"https://x/1"}})"),
      R"("timestamp":"2026-02-18T14:00:00.123Z","type":"status","summary":"done","data":{"event":"completed",)"
      R"("state":"completed","message":"done","prURL":"https://x/1","details":{"pr_url":"https://x/1"}},"version":1)");
  EXPECT_NE(body(R"({"event":"started"})").find(R"("state":"running")"), std::string::npos);
  EXPECT_EQ(body(R"({"event":"progress","message":"half"})").find("\"state\""), std::string::npos);
  EXPECT_NE(body(R"({"event":"failed","details":{"reason":"timed_out"}})").find(R"("state":"timed_out")"),
            std::string::npos);
  EXPECT_NE(body(R"({"event":"failed","details":{"reason":"cancelled"}})").find(R"("state":"cancelled")"),
            std::string::npos);
  EXPECT_NE(body(R"({"event":"failed","details":{"error":"boom"}})").find(R"("error":"boom")"), std::string::npos);
  for (const char* bad :
       {R"({})", R"({"event":"ended"})", R"({"event":1})", R"({"event":"failed","details":[]})", "x"}) {
    EXPECT_FALSE(decode_status_update(bad, intake).has_value()) << bad;
  }
}

TEST(Deltas, OneOrMany) {
  Redactor redactor = Redactor::create({}).value();
  Intake intake;
  intake.redactor = &redactor;
  EXPECT_EQ(decode_deltas(R"({"block":0,"text":"a\n"})", intake).value(),
            (std::vector<std::string>{R"({"block":0,"text":"a\n"})"}));
  EXPECT_EQ(decode_deltas(R"([{"block":"b1","text":"jane@example.org"},{"block":2,"text":""}])", intake).value(),
            (std::vector<std::string>{R"({"block":"b1","text":"[redacted:email:16]"})", R"({"block":2,"text":""})"}));
  for (const char* bad : {"1", "{}", R"({"block":0})", R"({"text":"x"})", R"({"block":-1,"text":"x"})",
                          R"([{"block":0,"text":5}])", ""}) {
    EXPECT_FALSE(decode_deltas(bad, intake).has_value()) << bad;
  }
  auto large = decode_deltas(R"({"block":0,"text":")" + std::string(kMaxDeltaBytes, 'x') + "\"}", intake);
  EXPECT_EQ(large.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace shepherd
