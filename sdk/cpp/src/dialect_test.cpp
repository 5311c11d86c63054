// An agent written with the library speaks both dialects: the caller's first message decides.
#include "dialect.h"

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "caller_fixture.h"
#include "typed_messages.h"

namespace shepherd::agent {
namespace {

namespace typed = gibson::typed_agent;

// A caller of the typed dialect: the same method, other messages.
class TypedCaller {
 public:
  explicit TypedCaller(const AgentServer& server)
      : channel_(grpc::CreateChannel("127.0.0.1:" + std::to_string(server.port()), grpc::InsecureChannelCredentials())),
        method_("/gibson.agent.AgentService/StreamExecute", grpc::internal::RpcMethod::BIDI_STREAMING) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));  // so that no test hangs
    stream_.reset(grpc::internal::ClientReaderWriterFactory<typed::ClientMessage, typed::AgentMessage>::Create(
        channel_.get(), method_, &context_));
  }

  void send(const typed::ClientMessage& message) { stream_->Write(message); }
  std::vector<typed::AgentMessage> to_end() {
    std::vector<typed::AgentMessage> all;
    typed::AgentMessage message;
    while (stream_->Read(&message)) all.push_back(message);
    status = stream_->Finish();
    return all;
  }

  grpc::Status status;

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::internal::RpcMethod method_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<typed::ClientMessage, typed::AgentMessage>> stream_;
};

typed::AgentMessage from_text(std::string_view call_input) {
  pb::AgentMessage call;
  call.mutable_tool_call()->set_input_json(std::string(call_input));
  return typed_message(call);
}

TEST(Dialects, ATypedCallerGetsTypedMessages) {
  AgentServer server(quiet(), [](Execution& run) {
    run.output("on it: " + run.task().goal + " " + run.task().context);
    auto call = run.tool_call("read", R"({"name":"a.md","lines":20,"half":0.5,"from":null,"marks":["x",{"y":true}]})");
    run.tool_result(call, R"({"text":"b"})", true);
    run.finding({.id = "f",
                 .title = "A password",
                 .severity = "high",
                 .confidence = 0.9,
                 .mitre_techniques = {"T1552.001", "AML.T0051"},
                 .evidence = {{.type = "log", .title = "a.md", .content = "root"}}});
    run.error("TOOL_TIMEOUT", "slow");
    run.error("MY_OWN", "odd");
  });
  TypedCaller caller(server);
  typed::ClientMessage start;
  start.mutable_start()->mutable_task()->set_id("t");
  start.mutable_start()->mutable_task()->set_goal("audit");
  (*start.mutable_start()->mutable_task()->mutable_context())["text"].set_string_value("all of it");
  caller.send(start);
  std::vector<typed::AgentMessage> seen = caller.to_end();
  EXPECT_TRUE(caller.status.ok()) << caller.status.error_message();
  ASSERT_EQ(seen.size(), 8U);
  EXPECT_EQ(seen[0].status().status(), typed::AGENT_STATUS_RUNNING);
  EXPECT_EQ(seen[1].output().content(), "on it: audit {\"text\":\"all of it\"}");
  const auto& input = seen[2].tool_call().input();
  EXPECT_EQ(input.at("name").string_value(), "a.md");
  EXPECT_EQ(input.at("lines").int_value(), 20);
  EXPECT_EQ(input.at("half").double_value(), 0.5);
  EXPECT_EQ(input.at("from").kind_case(), typed::TypedValue::kNullValue);
  EXPECT_TRUE(input.at("marks").array_value().items(1).map_value().entries().at("y").bool_value());
  EXPECT_EQ(seen[3].tool_result().output().map_value().entries().at("text").string_value(), "b");
  const typed::Finding& finding = seen[4].finding().finding();
  EXPECT_EQ(finding.severity(), typed::FINDING_SEVERITY_HIGH);
  EXPECT_EQ(finding.mitre_attack().technique_id(), "T1552.001");
  EXPECT_EQ(finding.mitre_atlas().technique_id(), "AML.T0051");
  EXPECT_EQ(finding.evidence(0).type(), typed::EVIDENCE_TYPE_LOG);
  EXPECT_EQ(finding.evidence(0).content(), "root");
  EXPECT_EQ(seen[5].error().code(), typed::ERROR_CODE_TOOL_TIMEOUT);
  EXPECT_EQ(seen[6].error().code(), typed::ERROR_CODE_INTERNAL);
  EXPECT_EQ(seen[6].error().message(), "MY_OWN: odd");
  EXPECT_EQ(seen[7].status().status(), typed::AGENT_STATUS_COMPLETED);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].sequence(), static_cast<std::int64_t>(i) + 1);
}

TEST(Dialects, ACallerInJsonGetsJsonFromTheSameServer) {
  AgentServer server(quiet(), [](Execution& run) { run.tool_call("read", R"({"a":1})"); });
  Caller caller(server);
  caller.start("{\r  \"id\":\"t\",\"goal\":\"g\"}");
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.seen.at(1).tool_call().input_json(), R"({"a":1})");
}

TEST(Dialects, ATypedTaskBecomesATaskInJson) {
  typed::Task task;
  task.set_id("t");
  task.set_goal("say \"hi\"");
  (*task.mutable_context())["text"].set_string_value("c");
  auto& repo = *(*task.mutable_context())["repo"].mutable_map_value()->mutable_entries();
  repo["url"].set_string_value("https://git.example/a");
  task.mutable_constraints()->set_max_turns(3);
  (*task.mutable_metadata())["model"].set_string_value("small");
  (*task.mutable_metadata())["bytes"].set_bytes_value("\x01\xff");
  std::string json = task_json_of(task), problem;
  auto read = parse_task(json, problem);
  ASSERT_TRUE(read) << problem;
  EXPECT_EQ(read->goal, "say \"hi\"");
  EXPECT_EQ(read->context, R"({"text":"c"})");
  for (std::string_view part :
       {R"("repo":{"url":"https://git.example/a"})", R"("maxTurns":3)", R"("model":"small")", R"("bytes":"Af8=")"}) {
    EXPECT_NE(json.find(part), std::string::npos) << json;
  }
}

TEST(Dialects, TextThatIsNoJsonIsStillSent) {
  EXPECT_EQ(from_text("item one").tool_call().input().at("value").string_value(), "item one");
  EXPECT_EQ(from_text("7").tool_call().input().at("value").int_value(), 7);
  pb::AgentMessage finding;
  finding.mutable_finding()->set_finding_json(R"({"title":"x","severity":"terrible","owner":"ann"})");
  const typed::AgentMessage sent = typed_message(finding);
  EXPECT_EQ(sent.finding().finding().title(), "x");
  const std::string& more = sent.finding().finding().evidence(0).content();
  EXPECT_NE(more.find("terrible"), std::string::npos) << "nothing is lost: " << more;
  EXPECT_NE(more.find("ann"), std::string::npos) << more;
  finding.mutable_finding()->set_finding_json("just a text");
  EXPECT_EQ(typed_message(finding).finding().finding().title(), "just a text");
}

TEST(Dialects, WhatIsOfNeitherDialectIsRefused) {
  AgentServer server(quiet(), [](Execution&) {});
  TypedCaller empty(server);
  typed::ClientMessage nothing;
  nothing.mutable_start();
  empty.send(nothing);
  EXPECT_TRUE(empty.to_end().empty());
  EXPECT_EQ(empty.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  TypedCaller wrong(server);
  typed::ClientMessage steering;
  steering.mutable_steering()->set_id("s");
  wrong.send(steering);
  EXPECT_TRUE(wrong.to_end().empty());
  EXPECT_EQ(wrong.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace shepherd::agent
