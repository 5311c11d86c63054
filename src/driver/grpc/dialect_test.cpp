// The typed dialect, and how the driver finds out which of the two an agent speaks.
#include "driver/grpc/dialect.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "driver/grpc/grpc_agent.h"
#include "driver/grpc/record_frames.h"
#include "gibson/agent.pb.h"
#include "gibson/typed_agent.pb.h"
#include "json/scan.h"
#include "json/tree.h"

namespace shepherd {
namespace {

namespace typed = gibson::typed_agent;

constexpr std::int64_t kNow = 1'794'766'800'000;
constexpr int kOutOfRange = 11;

Launch launch_of(std::string goal, const LaunchOptions& options = {}) {
  Launch launch;
  launch.id = "t/1";
  launch.task = "t";
  launch.prompt = std::move(goal);
  launch.options = options;
  return launch;
}

std::string first_message(GrpcAgent& driver, const Launch& launch) {
  LaunchPlan plan = *driver.launch(launch);
  std::string_view bytes = plan.input;
  return std::string(take_frame(bytes).value());
}

ExitFacts ended(int status, std::string message) {
  ExitFacts exit;
  exit.code = status;
  exit.message = std::move(message);
  return exit;
}

std::string code_of(const Actions& out) {
  return out.events().empty() ? "" : text_member(find_member(out.events().back().json, "data"), "code");
}

TEST(GrpcDialects, ATypedStartHasTheWholeTask) {
  Launch launch = launch_of("audit it", {{std::string(kDialectOption), "typed"}});
  launch.context = "the context";
  launch.repo_url = "https://git.example/a";
  launch.repo_ref = "main";
  launch.model = "small";
  launch.max_turns = 7;
  launch.budget_usd = 0.5;
  launch.allowed_tools = {"read"};
  launch.mode = AgentMode::interactive;
  GrpcAgent driver;
  typed::ClientMessage first;
  ASSERT_TRUE(first.ParseFromString(first_message(driver, launch)));
  const typed::Task& task = first.start().task();
  EXPECT_EQ(task.id(), "t");
  EXPECT_EQ(task.goal(), "audit it");
  EXPECT_EQ(task.context().at("text").string_value(), "the context");
  const auto& repo = task.context().at("repo").map_value().entries();
  EXPECT_EQ(repo.at("url").string_value(), "https://git.example/a");
  EXPECT_EQ(repo.at("ref").string_value(), "main");
  EXPECT_EQ(task.constraints().max_turns(), 7);
  EXPECT_EQ(task.constraints().allowed_tools(0), "read");
  EXPECT_EQ(task.metadata().at("model").string_value(), "small");
  EXPECT_EQ(task.metadata().at("budgetUSD").double_value(), 0.5);
  EXPECT_EQ(first.start().initial_mode(), typed::AGENT_MODE_INTERACTIVE);
}

// Such a goal ends the group that "{" would begin, and wraps up the rest: a plain JSON text would be read as a task
// without a goal.
TEST(GrpcDialects, NoGoalMakesATypedAgentReadATaskInJson) {
  std::string begin = R"({"id":"t","goal":")";
  std::string goal = std::string(108 - begin.size(), 'x') + "|j " + std::string(30, 'x');
  std::string plain = begin + goal + R"("})";
  ASSERT_TRUE(typed::Task().ParseFromString(plain)) << "the goal does not show the danger";
  GrpcAgent driver;
  EXPECT_FALSE(typed::ClientMessage().ParseFromString(first_message(driver, launch_of(goal))));
  for (std::size_t length = 1; length < 300; ++length) {
    std::string other = std::string(length, 'x') + goal;
    EXPECT_FALSE(typed::ClientMessage().ParseFromString(first_message(driver, launch_of(other))));
  }
}

TEST(GrpcDialects, AnAgentThatCannotReadTheStartIsAskedInTheOtherDialect) {
  for (int status : {2, 3, 13}) {
    GrpcAgent driver;
    ASSERT_TRUE(driver.launch(launch_of("go")));
    Actions out;
    Verdict verdict = driver.finish(ended(status, "cannot parse"), kNow, out);
    ASSERT_TRUE(verdict.retry) << status;
    EXPECT_TRUE(out.events().empty()) << "it has not failed yet";
    EXPECT_NE(verdict.retry->why.find("cannot parse"), std::string::npos);

    GrpcAgent again;
    typed::ClientMessage first;
    EXPECT_TRUE(first.ParseFromString(first_message(again, launch_of("go", verdict.retry->options))));
    EXPECT_EQ(first.start().task().goal(), "go");
    Verdict last = again.finish(ended(13, "nor that"), kNow, out);
    EXPECT_FALSE(last.retry) << "there are two dialects";
    EXPECT_EQ(code_of(out), "start_refused");
    for (std::string_view part : {"json: ", "cannot parse", "typed: INTERNAL: nor that"}) {
      EXPECT_NE(last.message.find(part), std::string::npos) << last.message;
    }
  }
}

TEST(GrpcDialects, OtherEndsAreNoQuestionOfTheDialect) {
  auto asks_again = [](const ExitFacts& exit, const LaunchOptions& options, bool answered, bool stopped) {
    GrpcAgent driver;
    EXPECT_TRUE(driver.launch(launch_of("go", options)));
    Actions out;
    gibson::agent::AgentMessage running;
    running.mutable_status();
    if (answered) driver.record(running.SerializeAsString(), kNow, out);
    Command stop;
    stop.kind = CommandKind::stop;
    if (stopped) driver.command(stop, kNow, out);
    return driver.finish(exit, kNow, out).retry.has_value();
  };
  ExitFacts unread = ended(13, "cannot parse");
  EXPECT_TRUE(asks_again(unread, {}, false, false));
  EXPECT_FALSE(asks_again(unread, {}, true, false));
  EXPECT_FALSE(asks_again(unread, {}, false, true));
  EXPECT_FALSE(asks_again(unread, {{std::string(kDialectOption), "json"}}, false, false));
  EXPECT_FALSE(asks_again(unread, {{std::string(kDialectOption), "typed"}}, false, false));
  for (int status : {0, 1, 7, kOutOfRange, 12, 14, 16}) EXPECT_FALSE(asks_again(ended(status, ""), {}, false, false));
  unread.by_runner = true;
  EXPECT_FALSE(asks_again(unread, {}, false, false));
}

TEST(GrpcDialects, TheErrorNamesTheOnlyDialectThatWasAllowed) {
  GrpcAgent driver;
  ASSERT_TRUE(driver.launch(launch_of("go", {{std::string(kDialectOption), "typed"}})));
  Actions out;
  Verdict verdict = driver.finish(ended(3, "no JSON"), kNow, out);
  EXPECT_NE(verdict.message.find("typed: INVALID_ARGUMENT: no JSON"), std::string::npos) << verdict.message;
  EXPECT_EQ(verdict.message.find("json: "), std::string::npos) << verdict.message;
}

class TypedAgent : public ::testing::Test {
 protected:
  TypedAgent() { EXPECT_TRUE(driver_.launch(launch_of("go", {{std::string(kDialectOption), "typed"}}))); }

  void say(typed::AgentMessage message) {
    message.set_sequence(++number_);
    driver_.record(message.SerializeAsString(), kNow, out_);
  }
  std::string_view last(std::string_view member) { return find_member(out_.events().back().json, member); }

  GrpcAgent driver_;
  Actions out_;
  std::int64_t number_ = 0;
};

TEST_F(TypedAgent, ValuesOfEveryKindBecomeJson) {
  typed::AgentMessage call;
  call.mutable_tool_call()->set_tool_name("probe");
  call.mutable_tool_call()->set_call_id("c1");
  auto& input = *call.mutable_tool_call()->mutable_input();
  input["z_last"].set_bool_value(true);
  input["a \"quoted\""].set_string_value("text\n");
  input["big"].set_int_value(9'007'199'254'740'993);
  input["bytes"].set_bytes_value("\x01\xff");
  input["half"].set_double_value(0.5);
  input["list"].mutable_array_value()->add_items()->set_int_value(-1);
  input["list"].mutable_array_value()->add_items()->set_null_value(typed::NULL_VALUE);
  (*input["map"].mutable_map_value()->mutable_entries())["inner"].set_string_value("x");
  input["unset"];
  say(call);
  EXPECT_EQ(last("input"),
            R"({"a \"quoted\"":"text\n","big":9007199254740993,"bytes":"Af8","half":0.5,"list":[-1,null],)"
            R"("map":{"inner":"x"},"unset":null,"z_last":true})");

  typed::AgentMessage result;
  result.mutable_tool_result()->set_call_id("c1");
  (*result.mutable_tool_result()->mutable_output()->mutable_map_value()->mutable_entries())["code"].set_int_value(200);
  result.mutable_tool_result()->set_success(true);
  say(result);
  EXPECT_EQ(text_member(out_.events().back().json, "tool"), "probe");
  EXPECT_EQ(text_member(last("output"), "summary"), R"({"code":200})");
}

TEST_F(TypedAgent, AFindingHasTheNamesOfOneInJson) {
  typed::AgentMessage message;
  typed::Finding& finding = *message.mutable_finding()->mutable_finding();
  finding.set_title("Password in a note");
  finding.set_severity(typed::FINDING_SEVERITY_HIGH);
  finding.set_status(typed::FINDING_STATUS_FALSE_POSITIVE);
  finding.set_confidence(0.9);
  finding.mutable_mitre_attack()->set_technique_id("T1552");
  finding.mutable_mitre_attack()->add_sub_techniques("T1552.001");
  typed::Evidence& evidence = *finding.add_evidence();
  evidence.set_type(typed::EVIDENCE_TYPE_LOG);
  evidence.set_content("root");
  finding.add_reproduction()->set_order(1);
  say(message);
  EXPECT_EQ(text_member(out_.events().back().json, "summary"), "Finding (high): Password in a note");
  EXPECT_EQ(find_member(last("data"), "mitreTechniques"), R"(["T1552","T1552.001"])");
  EXPECT_EQ(find_member(last("data"), "evidence"), R"([{"type":"log","content":"root"}])");
  EXPECT_EQ(text_member(last("data"), "status"), "false_positive");
  EXPECT_EQ(find_member(last("data"), "confidence"), "0.9");
  EXPECT_EQ(find_member(last("data"), "reproduction"), R"([{"order":1}])");
}

TEST_F(TypedAgent, AnErrorHasTheCodeOfTheProtocol) {
  typed::AgentMessage message;
  message.mutable_error()->set_code(typed::ERROR_CODE_LLM_RATE_LIMITED);
  message.mutable_error()->set_message("wait");
  say(message);
  EXPECT_EQ(code_of(out_), "LLM_RATE_LIMITED");
  message.mutable_error()->set_code(static_cast<typed::ErrorCode>(77));
  say(message);
  EXPECT_EQ(code_of(out_), "CODE_77");
  message.mutable_error()->clear_code();
  say(message);
  EXPECT_EQ(text_member(out_.events().back().json, "summary"), "wait");
}

TEST_F(TypedAgent, TheEventKeepsTheAgentsOwnMessage) {
  typed::AgentMessage call;
  (*call.mutable_tool_call()->mutable_input())["a"].set_int_value(1);
  say(call);
  EXPECT_NE(out_.events().back().detail.find(R"("input":{"a":{"int_value":"1"}})"), std::string::npos)
      << out_.events().back().detail;
}

TEST_F(TypedAgent, NestingHasABound) {
  typed::AgentMessage call;
  typed::TypedValue* inner = &(*call.mutable_tool_call()->mutable_input())["deep"];
  for (int depth = 0; depth < 500; ++depth) inner = inner->mutable_array_value()->add_items();
  inner->set_int_value(1);
  say(call);
  EXPECT_EQ(text_member(out_.events().back().json, "summary"), "A message of the agent that cannot be read");
}

TEST_F(TypedAgent, BrokenBytesGiveWholeEvents) {
  std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2'000; ++i) {
    typed::AgentMessage made;
    switch (random() % 3) {
      case 0:
        (*made.mutable_tool_call()->mutable_input())["a"].mutable_array_value()->add_items()->set_double_value(
            std::numeric_limits<double>::quiet_NaN());
        break;
      case 1:
        made.mutable_finding()->mutable_finding()->set_title("t \xe2\x82\xac");
        (*made.mutable_finding()->mutable_finding()->add_evidence()->mutable_metadata())["k"] = "v";
        break;
      default:
        (*made.mutable_tool_result()->mutable_output()->mutable_map_value()->mutable_entries())["x"].set_bytes_value(
            "\xff");
    }
    std::string bytes = made.SerializeAsString();
    for (std::uint64_t change = random() % 4; change > 0; --change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    driver_.record(bytes, kNow + i, out_);
  }
  EXPECT_GT(out_.events().size(), 1'000U);
  for (const auto& event : out_.events()) {
    EXPECT_TRUE(parse_tree(event.json)) << event.json;
    EXPECT_TRUE(event.detail.empty() || parse_tree(event.detail)) << event.detail;
  }
}

TEST_F(TypedAgent, WhatIsNoMessageIsKept) {
  driver_.record("\x0a\xff", kNow, out_);
  EXPECT_EQ(text_member(out_.events().back().json, "summary"), "A message of the agent that cannot be read");
}

}  // namespace
}  // namespace shepherd
