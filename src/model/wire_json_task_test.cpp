#include <gtest/gtest.h>

#include "model/limits.h"
#include "model/runner_json.h"
#include "model/task_fold.h"
#include "model/usage_json.h"
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
  EXPECT_EQ(complete_data(task.spec.id, task.state),
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

// Every member has a value of its own, so that none can stand for another.
Task full_task() {
  Task task;
  task.spec = decode_task_request(kFull).value();
  task.spec.command = {"make", "test"};
  task.spec.callback_events = {"completed"};
  TaskState& state = task.state;
  state.state = State::waiting_for_input;
  state.message = "msg";
  state.activity = "act";
  state.pr_url = "https://example.org/pr/1";
  state.error = "err";
  state.session_id = "s-1";
  state.model = "seen";
  state.usage = {0.5, 1, 2, 3, 4, 5, 6, 7};
  state.usage_by_session = {{"", {0.25, 1, 1, 1, 1, 1, 1, 1}}, {"s-1", {0.25, 0, 1, 2, 3, 4, 5, 6}}};
  state.first_sequence = 11;
  state.last_sequence = 12;
  state.end_sequence = 13;
  state.errors = 14;
  state.tool_calls = 15;
  state.started_ms = 1771423200001;
  state.last_event_ms = 1771423200002;
  state.completed_ms = 1771423200003;
  state.commands = {{"c1", CommandKind::approve, CommandState::refused, "ada", "why", "q1", 21, 22},
                    {"c2", CommandKind::stop, CommandState::accepted, "", "", "", 23, 0}};
  state.approvals = {{"q1", "permission", "Bash", "may I", 31, 1771423200004}, {"q2", "", "", "", 32, 0}};
  state.capabilities_json = R"({"commands":["steer"]})";
  state.confined = "secrets";
  state.runner = "r2";
  state.lease_epoch = 41;
  state.claims = 42;
  state.inferred_end = true;
  task.created_ms = 1771423200000;
  return task;
}

TEST(TaskOut, EveryMemberIsShown) {
  std::string out;
  append_task(out, full_task());
  EXPECT_EQ(
      out,
      R"({"id":"fix-1","namespace":"team","title":"Fix it","repo":{"url":"https://example.org/r.git","ref":"main"},)"
      R"("task":{"description":"Fix the login\nplease","sourceURL":"https://example.org/1","sourceType":"issue",)"
      R"("sourceID":"1"},"agent":"claude","model":"opus","callbackURL":"https://example.org/cb","mode":"autonomous",)"
      R"("runner":"r2","workflowID":"w","resumeOf":"old","maxTurns":5,"timeout":5400,"budget":1.5,)"
      R"("allowedTools":["Read","Bash"],"command":["make","test"],"callbackEvents":["completed"],)"
      R"("labels":{"a":"b","fleet":"f"},"status":{"phase":"Running","state":"waiting_for_input","message":"msg",)"
      R"("prURL":"https://example.org/pr/1","error":"err"},"activity":"act","sessionID":"s-1",)"
      R"("createdAt":"2026-02-18T14:00:00.000Z","startedAt":"2026-02-18T14:00:00.001Z",)"
      R"("lastEventAt":"2026-02-18T14:00:00.002Z","completionTime":"2026-02-18T14:00:00.003Z","firstSequence":11,)"
      R"("lastSequence":12,"usage":{"costUSD":0.5,"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,)"
      R"("cacheWriteTokens":4,"apiCalls":5,"toolUses":6,"turns":7},"errors":14,"toolCalls":15,)"
      R"("capabilities":{"commands":["steer"]},"confined":"secrets","commands":[{"id":"c1","kind":"approve",)"
      R"("state":"refused","by":"ada","sequence":21,"approvalID":"q1","reason":"why"},{"id":"c2","kind":"stop",)"
      R"("state":"accepted","by":"","sequence":23}],"approvals":[{"approvalID":"q1","kind":"permission",)"
      R"("tool":"Bash","summary":"may I","sequence":31,"expiresAt":"2026-02-18T14:00:00.004Z"},)"
      R"({"approvalID":"q2","summary":"","sequence":32}]})");
}

TEST(TaskOut, TheModelAndTheRunnerAreThoseThatAreKnown) {
  Task task = full_task();
  task.spec.model = "";
  task.state.runner = "";
  task.spec.repo_url = "";
  std::string out;
  append_task(out, task);
  EXPECT_NE(out.find(R"("model":"seen")"), std::string::npos);
  EXPECT_NE(out.find(R"("runner":"r1")"), std::string::npos);
  EXPECT_NE(out.find(R"("repo":{"url":"","ref":"main"})"), std::string::npos);
  task.spec.repo_ref = "";
  EXPECT_NE(encode_task_spec(task.spec).find(R"("repo":null)"), std::string::npos);
}

TEST(TaskOut, ATitleIsTheFirstLineAndNotLong) {
  TaskSpec spec;
  spec.description = "one\rtwo";
  EXPECT_EQ(shown_title(spec), "one");
  spec.description = std::string(121, 'x');
  EXPECT_EQ(shown_title(spec), std::string(120, 'x'));
  spec.title = std::string(130, 't');
  EXPECT_EQ(shown_title(spec), spec.title);
}

TEST(TaskRequest, TheStoredFormHasEveryMember) {
  TaskSpec spec = full_task().spec;
  EXPECT_EQ(encode_task_spec(spec),
            R"({"id":"fix-1","namespace":"team","title":"Fix it","task":{"description":"Fix the login\nplease",)"
            R"("context":"ctx","sourceURL":"https://example.org/1","sourceType":"issue","sourceID":"1"},)"
            R"("repo":{"url":"https://example.org/r.git","ref":"main"},"agent":"claude","model":"opus",)"
            R"("callbackURL":"https://example.org/cb","mode":"autonomous","runner":"r1","workflowID":"w",)"
            R"("resumeOf":"old","maxTurns":5,"timeout":5400,"budget":1.5,"allowedTools":["Read","Bash"],)"
            R"("command":["make","test"],"callbackEvents":["completed"],"mcpServers":{"x":{"command":"y"}},)"
            R"("labels":{"a":"b","fleet":"f"}})");
  EXPECT_EQ(encode_task_spec(decode_task_spec(encode_task_spec(spec))), encode_task_spec(spec));
}

TEST(TaskProjection, EveryMemberIsStoredAndReadBack) {
  TaskState state = full_task().state;
  std::string text = encode_task_state(state);
  EXPECT_EQ(text,
            R"({"state":"waiting_for_input","inferredEnd":true,"message":"msg","activity":"act",)"
            R"("prURL":"https://example.org/pr/1","error":"err","sessionID":"s-1","model":"seen","firstSequence":11,)"
            R"("lastSequence":12,"errors":14,"toolCalls":15,"startedMS":1771423200001,"lastEventMS":1771423200002,)"
            R"("completedMS":1771423200003,"endSequence":13,"commands":[{"id":"c1","kind":"approve",)"
            R"("state":"refused","by":"ada","reason":"why","approvalID":"q1","sequence":21,"expiresMS":22},)"
            R"({"id":"c2","kind":"stop","state":"accepted","sequence":23,"expiresMS":0}],)"
            R"("approvals":[{"id":"q1","kind":"permission","tool":"Bash","summary":"may I","sequence":31,)"
            R"("expiresMS":1771423200004},{"id":"q2","sequence":32}],"capabilities":{"commands":["steer"]},)"
            R"("confined":"secrets","runner":"r2","leaseEpoch":41,"claims":42,"usage":{"costUSD":0.5,)"
            R"("inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4,"apiCalls":5,"toolUses":6,)"
            R"("turns":7},"usageBySession":[{"sessionID":"","usage":{"costUSD":0.25,"inputTokens":1,)"
            R"("outputTokens":1,"cacheReadTokens":1,"cacheWriteTokens":1,"apiCalls":1,"toolUses":1,"turns":1}},)"
            R"({"sessionID":"s-1","usage":{"costUSD":0.25,"inputTokens":0,"outputTokens":1,"cacheReadTokens":2,)"
            R"("cacheWriteTokens":3,"apiCalls":4,"toolUses":5,"turns":6}}]})");
  EXPECT_EQ(encode_task_state(decode_task_state(text)), text);
  TaskState odd = decode_task_state(R"({"state":"running","commands":[{"id":"x","kind":"dance","state":"lost"}]})");
  ASSERT_EQ(odd.commands.size(), 1U);
  EXPECT_EQ(odd.commands[0].kind, CommandKind::steer);
  EXPECT_EQ(odd.commands[0].state, CommandState::refused) << "one that nobody knows is not open";
  EXPECT_EQ(encode_task_state({}),
            R"({"state":"queued","firstSequence":0,"lastSequence":0,"errors":0,"toolCalls":0,"startedMS":0,)"
            R"("lastEventMS":0,"completedMS":0})");
}

TEST(TaskUsage, AddsUpMemberByMember) {
  Usage usage{0.5, 1, 2, 3, 4, 5, 6, 7};
  usage += {0.25, 10, 20, 30, 40, 50, 60, 70};
  std::string out;
  append_usage(out, usage);
  EXPECT_EQ(out, R"({"costUSD":0.75,"inputTokens":11,"outputTokens":22,"cacheReadTokens":33,"cacheWriteTokens":44,)"
                 R"("apiCalls":55,"toolUses":66,"turns":77})");
  EXPECT_EQ(total_tokens(usage), 110U);
  EXPECT_EQ(total_tokens(out), 110U);
  EXPECT_EQ(total_tokens(R"({"inputTokens":-1,"outputTokens":2})"), 2U);
}

TEST(StatusUpdate, MistakesAreNamedAndWordsComeFromTheEvent) {
  Intake intake;
  EXPECT_EQ(text_field(decode_status_update(R"({"event":"ended"})", intake).error(), "member"), "event");
  EXPECT_EQ(text_field(decode_status_update(R"({"event":"failed","details":[]})", intake).error(), "member"),
            "details");
  auto body = [&](std::string_view json) {
    auto batch = decode_status_update(json, intake);
    return batch ? std::string(batch->body(batch->drafts.at(0))) : batch.error().message;
  };
  EXPECT_EQ(
      body(R"({"event":"progress"})"),
      R"("timestamp":"1970-01-01T00:00:00.000Z","type":"status","summary":"progress","data":{"event":"progress"},)"
      R"("version":1)");
  EXPECT_NE(body(R"({"event":"started","details":{"prURL":"p"}})").find(R"("prURL":"p")"), std::string::npos);
  EXPECT_EQ(body(R"({"event":"started","details":{}})").find("details"), std::string::npos);
  EXPECT_NE(body(R"({"event":"failed"})").find(R"("state":"failed")"), std::string::npos);
}

TEST(Deltas, MistakesAreNamedWithTheirIndex) {
  Intake intake;
  auto error = [&](std::string_view json) {
    auto deltas = decode_deltas(json, intake);
    if (deltas) return std::string("none");
    std::string found = deltas.error().reason;
    for (const auto& each : deltas.error().fields) {
      const auto* number = std::get_if<std::int64_t>(&each.value);
      found += " " + (number != nullptr ? std::to_string(*number) : std::get<std::string>(each.value));
    }
    return found;
  };
  EXPECT_EQ(error("7"), "bad_delta 0");
  EXPECT_EQ(error(R"([{"block":0,"text":"a"},7])"), "bad_delta 1");
  EXPECT_EQ(error(R"([{"block":0,"text":"a"},{"block":null,"text":"b"}])"), "bad_member block 1");
  EXPECT_EQ(error(R"({"block":"b","text":null})"), "bad_member text 0");
  EXPECT_EQ(error(R"({"block":"b","text":"no redactor"})"), "none");
  constexpr std::string_view kAround = R"({"block":0,"text":""})";
  auto long_one = [&](std::size_t bytes) {
    return error(R"({"block":0,"text":")" + std::string(bytes - kAround.size(), 'x') + "\"}");
  };
  EXPECT_EQ(long_one(kMaxDeltaBytes), "none");
  EXPECT_EQ(long_one(kMaxDeltaBytes + 1), "delta_too_large 0");
  std::string many = "[";
  for (std::size_t i = 0; i < kMaxEventsPerPost; ++i) many += R"({"block":0,"text":""},)";
  EXPECT_EQ(error(many.substr(0, many.size() - 1) + "]"), "none");
  EXPECT_EQ(error(many + R"({"block":0,"text":""}])"), "too_many_deltas");
}

TEST(TaskRequest, DurationsAddUp) {
  auto seconds = [](const std::string& text) {
    auto spec = decode_task_request(R"({"prompt":"x","timeout":")" + text + "\"}");
    return spec ? spec->timeout_seconds : -1;
  };
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("2m"), 120);
  EXPECT_EQ(seconds("1h2m3s"), 3723);
  EXPECT_EQ(seconds("0s"), 0);
  EXPECT_EQ(seconds("1000000000s"), 1'000'000'000);
  for (const char* bad : {"", "s", "1", "1d", "-1s", "1h30", "1000000001s", "1.5h", "1s "})
    EXPECT_EQ(seconds(bad), -1) << bad;
}

TEST(TaskRequest, BoundsAreInclusive) {
  auto member = [](const std::string& members) {
    auto spec = decode_task_request(R"({"prompt":"x",)" + members + "}");
    return spec ? std::string("none") : text_field(spec.error(), "member");
  };
  for (const char* event : {"started", "progress", "completed", "failed"}) {
    EXPECT_EQ(member(R"("callbackEvents":["failed",")" + std::string(event) + "\"]"), "none");
  }
  EXPECT_EQ(member(R"("callbackEvents":["started","ended"])"), "callbackEvents");
  EXPECT_EQ(member(R"("mode":"autonomous")"), "none");
  EXPECT_EQ(member(R"("mode":"yolo")"), "mode");
  EXPECT_EQ(member(R"("resumeOf":"a/b")"), "resumeOf");
  EXPECT_EQ(member(R"("mcpServers":[])"), "none");
  EXPECT_EQ(decode_task_request(R"({"prompt":"x","runner":{"name":"r7"}})")->runner, "r7");
  std::string words;
  for (std::size_t i = 0; i < kMaxCommandArguments; ++i) words += R"("a",)";
  EXPECT_EQ(member(R"("command":[)" + words.substr(0, words.size() - 1) + "]"), "none");
  EXPECT_EQ(member(R"("command":[)" + words + R"("b"])"), "command");
  std::string labels;
  for (std::size_t i = 0; i < kMaxLabels; ++i) labels += "\"k" + std::to_string(i) + R"(":"v",)";
  EXPECT_EQ(member(R"("labels":{)" + labels.substr(0, labels.size() - 1) + "}"), "none");
  EXPECT_EQ(member(R"("labels":{)" + labels + R"("x":"y"})"), "labels");
  const std::string fits(kMaxLabelBytes, 'x');
  EXPECT_EQ(member(R"("labels":{")" + fits + R"(":")" + fits + "\"}"), "none");
  EXPECT_EQ(member(R"("labels":{"x)" + fits + R"(":"v"})"), "labels");
  EXPECT_EQ(member(R"("labels":{"k":"x)" + fits + "\"}"), "labels");
  EXPECT_EQ(member(R"("labels":{"":"v"})"), "labels");
  auto context = [](std::size_t size) {
    return decode_task_request(R"({"task":{"description":"d","context":")" + std::string(size, 'c') + "\"}}");
  };
  EXPECT_TRUE(context(kMaxContextBytes));
  EXPECT_EQ(context(kMaxContextBytes + 1).error().reason, "context_too_large");
  EXPECT_EQ(text_field(context(kMaxContextBytes + 1).error(), "member"), "task.context");
}

}  // namespace
}  // namespace shepherd
