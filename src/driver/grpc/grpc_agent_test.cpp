#include "driver/grpc/grpc_agent.h"

#include <gtest/gtest.h>

#include <random>

#include "driver/grpc/dialect.h"
#include "driver/grpc/limits.h"
#include "driver/grpc/record.h"
#include "driver/grpc/record_frames.h"
#include "driver/grpc/status.h"
#include "gibson/agent.pb.h"
#include "json/scan.h"
#include "json/tree.h"
#include "model/limits.h"

namespace shepherd {
namespace {

using gibson::agent::AgentMessage;
using gibson::agent::ClientMessage;

constexpr std::int64_t kNow = 1'794'766'800'000;

class GrpcAgentTest : public ::testing::Test {
 protected:
  GrpcAgentTest() {
    launch_.id = "t/1";
    launch_.task = "t";
    launch_.prompt = "audit it";
    launch_.deltas = true;
    plan_ = *driver_.launch(launch_);
  }

  AgentMessage message() {
    AgentMessage made;
    made.set_sequence(++number_);
    made.set_timestamp_ms(kNow);
    return made;
  }
  void say(std::string text, std::int64_t now_ms, bool reasoning = false) {
    AgentMessage made = message();
    made.mutable_output()->set_content(std::move(text));
    made.mutable_output()->set_is_reasoning(reasoning);
    driver_.record(made.SerializeAsString(), now_ms, out_);
  }
  void status(gibson::agent::AgentStatus status, std::string words = "") {
    AgentMessage made = message();
    made.mutable_status()->set_status(status);
    made.mutable_status()->set_message(std::move(words));
    driver_.record(made.SerializeAsString(), kNow, out_);
  }
  void ack(const std::string& id) {
    AgentMessage made = message();
    made.mutable_steering_ack()->set_message_id(id);
    made.mutable_steering_ack()->set_response("will do");
    driver_.record(made.SerializeAsString(), kNow, out_);
  }
  void ask(CommandKind kind, std::string id = "c") {
    Command command;
    command.id = std::move(id);
    command.kind = kind;
    command.content = command.guidance = command.reason = "words";
    command.metadata_json = R"({"priority":"high","weight":3})";
    command.by = "ann";
    driver_.command(command, kNow, out_);
  }
  std::vector<ClientMessage> told() {
    std::vector<ClientMessage> all;
    std::string written = out_.written();
    std::string_view bytes = written;
    while (auto frame = take_frame(bytes)) EXPECT_TRUE(all.emplace_back().ParseFromString(std::string(*frame)));
    EXPECT_TRUE(bytes.empty());
    return all;
  }
  // The newest thing said of a command.
  std::string fate(const std::string& id = "c") {
    std::string text = "nothing";
    for (const auto& update : out_.commands()) {
      if (update.id == id) text = std::string(name(update.state)) + "|" + update.reason;
    }
    return text;
  }
  static std::string text_of(const DriverEvent& event) {
    return string_value(find_member(find_member(event.json, "data"), "text")).value_or("");
  }

  Launch launch_;
  GrpcAgent driver_;
  LaunchPlan plan_;
  Actions out_;
  std::int64_t number_ = 0;
};

TEST_F(GrpcAgentTest, TheStartSaysWhatToDo) {
  Launch launch = launch_;
  launch.context = "the context";
  launch.mode = AgentMode::autonomous;
  launch.repo_url = "https://git.example/a";
  GrpcAgent driver;
  LaunchPlan plan = *driver.launch(launch);
  EXPECT_EQ(std::get<GrpcLaunch>(plan.way).method, "/gibson.agent.AgentService/StreamExecute");
  EXPECT_TRUE(plan.keep_input_open);
  std::string_view bytes = plan.input;
  ClientMessage first;
  ASSERT_TRUE(first.ParseFromString(std::string(take_frame(bytes).value())));
  EXPECT_EQ(first.start().task_json(),
            "{\r  "
            R"("id":"t","goal":"audit it","context":{"text":"the context"},"repo":{"url":"https://git.example/a"}})");
  EXPECT_EQ(first.start().initial_mode(), gibson::agent::AGENT_MODE_AUTONOMOUS);

  launch.prompt = "";
  EXPECT_EQ(GrpcAgent().launch(launch).error().reason, "no_prompt");
  launch.prompt = "x";
  launch.resume_session = "s";
  EXPECT_EQ(GrpcAgent().launch(launch).error().reason, "cannot_resume");
}

TEST_F(GrpcAgentTest, ChunksAreJoinedByTimeAndSize) {
  for (int i = 0; i < 10; ++i) say("w ", kNow + i * 50);
  EXPECT_TRUE(out_.events().empty());
  EXPECT_EQ(out_.deltas().size(), 10U) << "but they are seen while they grow";
  EXPECT_EQ(out_.deltas().front().block, out_.deltas().back().block);
  ASSERT_TRUE(driver_.hints().tick_at_ms);
  EXPECT_EQ(*driver_.hints().tick_at_ms, kNow + kChunkJoinWait.count());
  driver_.tick(kNow + kChunkJoinWait.count() - 1, out_);
  EXPECT_TRUE(out_.events().empty());
  driver_.tick(kNow + kChunkJoinWait.count(), out_);
  ASSERT_EQ(out_.events().size(), 1U);
  EXPECT_EQ(text_of(out_.events()[0]), "w w w w w w w w w w ");
  EXPECT_TRUE(out_.events()[0].detail.starts_with("{\"raw\":[{\"output\":")) << out_.events()[0].detail;
  EXPECT_FALSE(driver_.hints().tick_at_ms);

  out_.clear();
  for (int i = 0; i < 3; ++i) say(std::string(kChunkJoinBytes / 2, 'x'), kNow);
  EXPECT_EQ(out_.events().size(), 1U);
  EXPECT_EQ(text_of(out_.events()[0]).size(), kChunkJoinBytes);
  for (std::size_t i = 0; i < 2 * kChunkJoinMessages; ++i) say(".", kNow);
  EXPECT_EQ(out_.events().size(), 3U);
}

TEST_F(GrpcAgentTest, AnotherKindOfTextOrAnyOtherMessageEndsAPiece) {
  say("why", kNow, true);
  say("what", kNow);
  status(gibson::agent::AGENT_STATUS_RUNNING);
  ASSERT_EQ(out_.events().size(), 3U);
  EXPECT_EQ(out_.events()[0].type, EventType::thinking);
  EXPECT_EQ(out_.events()[1].type, EventType::output);
  EXPECT_EQ(out_.events()[2].type, EventType::status);
  EXPECT_NE(out_.deltas()[0].block, out_.deltas()[1].block);
}

TEST_F(GrpcAgentTest, SteeringIsSettledByItsAck) {
  ask(CommandKind::steer);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_EQ(told()[0].steering().id(), "c");
  EXPECT_EQ(told()[0].steering().content(), "words");
  const auto metadata = told()[0].steering().metadata();
  EXPECT_EQ(metadata.at("priority"), "high");
  EXPECT_EQ(metadata.at("weight"), "3");
  EXPECT_EQ(metadata.at("operator"), "ann");
  EXPECT_EQ(fate(), "delivered|");
  EXPECT_EQ(driver_.hints().open_words, 1U);
  ack("other");
  EXPECT_EQ(fate(), "delivered|");
  EXPECT_EQ(out_.events().size(), 1U) << "an ack of nothing is told";
  ack("c");
  EXPECT_EQ(fate(), "acknowledged|will do");
  EXPECT_NE(out_.commands().back().detail.find("steering_ack"), std::string::npos);
  EXPECT_EQ(driver_.hints().open_words, 0U);
}

TEST_F(GrpcAgentTest, WhatIsNotAcknowledgedExpires) {
  ask(CommandKind::steer);
  std::int64_t at_ms = kNow + kCommandExpirySeconds * 1'000;
  EXPECT_EQ(driver_.hints().tick_at_ms, at_ms);
  driver_.tick(at_ms - 1, out_);
  EXPECT_EQ(fate(), "delivered|");
  driver_.tick(at_ms, out_);
  EXPECT_EQ(fate(), "expired|the agent did not acknowledge it within 60 s");
  ask(CommandKind::interrupt, "open");
  driver_.finish({}, kNow, out_);
  EXPECT_EQ(fate("open"), "refused|the agent has ended");
}

TEST_F(GrpcAgentTest, InterruptAndResumeAreSettledByTheStatusThatFollows) {
  ask(CommandKind::resume, "early");
  EXPECT_EQ(fate("early"), "refused|the agent is not interrupted");
  ask(CommandKind::interrupt, "i");
  EXPECT_EQ(told()[0].interrupt().reason(), "words");
  status(gibson::agent::AGENT_STATUS_RUNNING);
  status(gibson::agent::AGENT_STATUS_WAITING_FOR_INPUT, "which one?");
  EXPECT_EQ(fate("i"), "delivered|") << "these were on their way before";
  status(gibson::agent::AGENT_STATUS_INTERRUPTED, "stopped there");
  EXPECT_EQ(fate("i"), "acknowledged|stopped there");
  EXPECT_TRUE(driver_.hints().interrupted);
  ask(CommandKind::interrupt, "again");
  EXPECT_EQ(fate("again"), "refused|the agent is interrupted already");
  ask(CommandKind::resume, "r");
  EXPECT_EQ(told().back().resume().guidance(), "words");
  EXPECT_EQ(fate("r"), "delivered|");
  status(gibson::agent::AGENT_STATUS_RUNNING);
  EXPECT_EQ(fate("r"), "acknowledged|");
  EXPECT_FALSE(driver_.hints().interrupted);
}

TEST_F(GrpcAgentTest, PausedIsAnAnswerToAnInterruptToo) {
  ask(CommandKind::interrupt, "i");
  status(gibson::agent::AGENT_STATUS_PAUSED, "at a safe place");
  EXPECT_EQ(fate("i"), "acknowledged|at a safe place");
}

// As agents of the vendor's library do: PAUSED for an interrupt, INTERRUPTED once their work is over without a resume.
// They then wait for the end of our side.
TEST_F(GrpcAgentTest, InterruptedAfterPausedIsTheLastWord) {
  status(gibson::agent::AGENT_STATUS_RUNNING);
  ask(CommandKind::interrupt, "i");
  status(gibson::agent::AGENT_STATUS_PAUSED, "Execution paused: words");
  EXPECT_EQ(driver_.hints().turn, Hints::Turn::waiting);
  status(gibson::agent::AGENT_STATUS_INTERRUPTED, "Execution interrupted by client");
  EXPECT_EQ(driver_.hints().turn, Hints::Turn::idle) << "the runner then ends our side of the stream";
  EXPECT_EQ(driver_.hints().turns, 1);
  EXPECT_FALSE(driver_.hints().interrupted);
  ask(CommandKind::resume, "late");
  EXPECT_EQ(fate("late"), "refused|the agent is not interrupted");
  Verdict verdict = driver_.finish({}, kNow, out_);
  EXPECT_EQ(verdict.state, State::cancelled);
  EXPECT_EQ(verdict.message, "Execution interrupted by client");
}

TEST_F(GrpcAgentTest, AResumedAgentMayBeInterruptedAgain) {
  status(gibson::agent::AGENT_STATUS_PAUSED);
  status(gibson::agent::AGENT_STATUS_RUNNING);
  status(gibson::agent::AGENT_STATUS_INTERRUPTED);
  EXPECT_TRUE(driver_.hints().interrupted);
  EXPECT_EQ(driver_.hints().turn, Hints::Turn::waiting);
}

// A message is what it says: fields may come in any order, a recording has spaces of its own, a number has two forms.
TEST_F(GrpcAgentTest, ARepeatIsKnownHoweverItIsWritten) {
  AgentMessage made = message();
  made.mutable_output()->set_content("once");
  std::string forward = made.SerializeAsString();
  AgentMessage head, tail;
  *head.mutable_output() = made.output();
  tail.set_sequence(made.sequence());
  tail.set_timestamp_ms(made.timestamp_ms());
  std::string backward = tail.SerializeAsString() + head.SerializeAsString();
  ASSERT_NE(forward, backward);
  std::string number = std::to_string(made.sequence()), time = std::to_string(kNow);
  for (const std::string& record :
       {forward, backward, agent_message_json(made),
        R"({ "timestamp_ms": )" + time + R"(, "sequence": )" + number + R"(, "output": {"content": "once"} })"}) {
    driver_.record(record, kNow, out_);
  }
  driver_.finish({.by_runner = true}, kNow, out_);
  std::vector<std::string> told;
  for (const DriverEvent& event : out_.events()) {
    told.push_back(string_value(find_member(event.json, "summary")).value_or(""));
  }
  std::string repeated = "The agent repeated message 1";
  EXPECT_EQ(told, std::vector<std::string>({"once", repeated, repeated, repeated}));
}

TEST_F(GrpcAgentTest, AModeIsDeliveredAndTheRestRefused) {
  ask(CommandKind::set_mode);
  EXPECT_EQ(told()[0].set_mode().mode(), gibson::agent::AGENT_MODE_AUTONOMOUS);
  EXPECT_EQ(fate(), "delivered|");
  for (CommandKind kind : {CommandKind::queue, CommandKind::approve, CommandKind::deny, CommandKind::answer}) {
    EXPECT_FALSE(driver_.capabilities().can(kind));
    ask(kind, "no");
    EXPECT_TRUE(fate("no").starts_with("refused|"));
  }
}

TEST_F(GrpcAgentTest, AStopInterruptsThenEndsOurSide) {
  ask(CommandKind::stop);
  EXPECT_TRUE(told()[0].has_interrupt());
  EXPECT_FALSE(!out_.of<CloseInput>().empty());
  status(gibson::agent::AGENT_STATUS_INTERRUPTED);
  EXPECT_TRUE(!out_.of<CloseInput>().empty()) << "it waits for nothing else";
  out_.clear();
  driver_.finish({kGrpcCancelled, 0, false, "cancelled"}, kNow, out_);
  EXPECT_TRUE(out_.events().empty()) << "that was us";
}

TEST_F(GrpcAgentTest, CompletedIsNotTheEnd) {
  status(gibson::agent::AGENT_STATUS_COMPLETED, "fine");
  EXPECT_TRUE(find_member(find_member(out_.events()[0].json, "data"), "state").empty());
  EXPECT_EQ(driver_.hints().turn, Hints::Turn::idle);
  EXPECT_EQ(driver_.hints().turns, 1U);
  Verdict verdict = driver_.finish({kGrpcUnavailable, 0, false, "Socket closed"}, kNow, out_);
  EXPECT_EQ(verdict.state, State::completed) << "its work was done before its stream broke";
  EXPECT_EQ(verdict.message, "fine");
  EXPECT_NE(out_.events().back().json.find("\"fatal\":false"), std::string::npos);
}

TEST_F(GrpcAgentTest, EveryEndHasItsReason) {
  struct Case {
    int status;
    std::string_view code;
    bool answered;
  };
  for (const Case& each :
       {Case{14, "agent_unreachable", false}, Case{14, "stream_broken", true}, Case{16, "credentials_refused", false},
        Case{7, "credentials_refused", true}, Case{12, "not_a_streaming_agent", false}, Case{3, "start_refused", false},
        Case{4, "deadline_exceeded", true}, Case{13, "stream_broken", true}, Case{99, "stream_broken", true}}) {
    GrpcAgent driver;
    Launch launch = launch_;
    launch.options.emplace(kDialectOption, "json");
    ASSERT_TRUE(driver.launch(launch));
    Actions out;
    AgentMessage running;
    running.mutable_status();
    if (each.answered) driver.record(running.SerializeAsString(), kNow, out);
    Verdict verdict = driver.finish({each.status, 0, false, "so it is"}, kNow, out);
    EXPECT_EQ(verdict.state, State::failed);
    EXPECT_NE(verdict.message.find("so it is"), std::string::npos);
    std::string_view data = find_member(out.events().back().json, "data");
    EXPECT_EQ(string_value(find_member(data, "code")).value_or(""), each.code);
  }
}

// Codes of the fatal errors at the end of a run: one where the run failed, none where the runner or an operator ended
// it.
TEST_F(GrpcAgentTest, AFailureIsToldOnce) {
  AgentMessage failed, fatal;
  failed.mutable_status()->set_status(gibson::agent::AGENT_STATUS_FAILED);
  fatal.mutable_error()->set_code("LLM_ERROR");
  fatal.mutable_error()->set_fatal(true);
  AgentMessage running;
  running.mutable_status()->set_status(gibson::agent::AGENT_STATUS_RUNNING);
  auto fatal_codes = [&](const AgentMessage& last, const ExitFacts& exit, bool stopped = false) {
    GrpcAgent driver;
    EXPECT_TRUE(driver.launch(launch_));
    Actions out;
    driver.record(last.SerializeAsString(), kNow, out);
    Command stop;
    stop.id = "stop";
    stop.kind = CommandKind::stop;
    if (stopped) driver.command(stop, kNow, out);
    EXPECT_EQ(driver.finish(exit, kNow, out).state, State::failed);
    std::string codes;
    for (const auto& event : out.events()) {
      std::string_view data = find_member(event.json, "data");
      if (find_member(data, "fatal") == "true") codes += text_member(data, "code") + ";";
    }
    return codes;
  };
  ExitFacts ok;
  ExitFacts broken{kGrpcUnavailable, 0, false, "Socket closed"};
  ExitFacts by_runner;
  by_runner.by_runner = true;
  EXPECT_EQ(fatal_codes(running, ok), "agent_failed;");
  EXPECT_EQ(fatal_codes(failed, ok), "agent_failed;");
  EXPECT_EQ(fatal_codes(fatal, ok), "LLM_ERROR;");
  EXPECT_EQ(fatal_codes(running, broken), "stream_broken;");
  EXPECT_EQ(fatal_codes(fatal, broken), "LLM_ERROR;");
  EXPECT_EQ(fatal_codes(running, by_runner), "");
  EXPECT_EQ(fatal_codes(running, ok, true), "");
}

TEST_F(GrpcAgentTest, WhatCannotBeReadIsKept) {
  driver_.record("\x0a\xff", kNow, out_);
  driver_.record("{\"output\":", kNow, out_);
  AgentMessage bad = message();
  bad.mutable_output()->set_content("\xff\xfe");
  driver_.record(bad.SerializeAsString(), kNow, out_);
  ASSERT_EQ(out_.events().size(), 3U);
  for (const auto& event : out_.events()) EXPECT_EQ(event.type, EventType::log);
  EXPECT_EQ(out_.events()[0].detail, R"({"raw":"base64:Cv8"})");
  EXPECT_EQ(out_.events()[1].detail, R"({"raw":"{\"output\":"})");
}

TEST_F(GrpcAgentTest, AnAgentThatCannotCountIsNamedOnlySoOften) {
  for (std::size_t i = 0; i < 3 * kSequenceNotes; ++i) {
    number_ += 5;
    say("x", kNow);
  }
  driver_.finish({.by_runner = true}, kNow, out_);
  std::size_t notes = 0;
  for (const auto& event : out_.events()) notes += event.type == EventType::log ? 1 : 0;
  EXPECT_EQ(notes, kSequenceNotes + 1);
  EXPECT_NE(out_.events().back().json.find("wrong 40 more times"), std::string::npos);
}

TEST_F(GrpcAgentTest, BrokenBytesGiveWholeEvents) {
  std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2'000; ++i) {
    AgentMessage made = message();
    made.set_trace_id("trace");
    switch (random() % 4) {
      case 0:
        made.mutable_tool_call()->set_input_json(R"({"a":[1,{"b":"c"}]})");
        break;
      case 1:
        made.mutable_finding()->set_finding_json(R"({"title":"t","severity":"low","evidence":[{}]})");
        break;
      case 2:
        made.mutable_output()->set_content("some text \xe2\x82\xac");
        break;
      default:
        made.mutable_tool_result()->set_output_json("[1,2]");
    }
    std::string bytes = made.SerializeAsString();
    for (std::uint64_t change = random() % 4; change > 0; --change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    driver_.record(bytes, kNow + i, out_);
  }
  driver_.finish({}, kNow, out_);
  for (const auto& event : out_.events()) {
    EXPECT_TRUE(parse_tree(event.json)) << event.json;
    if (event.detail.empty()) continue;
    EXPECT_TRUE(parse_tree(event.detail)) << event.detail;
  }
  EXPECT_GT(out_.events().size(), 1'000U);
}

TEST(GrpcRecord, TheJsonFormIsReadBackToTheSameMessage) {
  AgentMessage message;
  message.mutable_error()->set_code("C");
  message.mutable_error()->set_message("line\nbreak \"quoted\"");
  message.mutable_error()->set_fatal(true);
  message.set_trace_id("t");
  message.set_sequence(9'007'199'254'740'993);
  AgentMessage again;
  ASSERT_TRUE(read_agent_message(agent_message_json(message), again));
  EXPECT_EQ(again.SerializeAsString(), message.SerializeAsString());
}

TEST(RecordFrames, AreTakenOffOneByOne) {
  std::string bytes;
  append_frame(bytes, "one");
  append_frame(bytes, "");
  append_frame(bytes, std::string(70'000, 'x'));
  std::string_view left = bytes;
  EXPECT_EQ(take_frame(left), "one");
  EXPECT_EQ(take_frame(left), "");
  EXPECT_EQ(take_frame(left)->size(), 70'000U);
  EXPECT_EQ(take_frame(left), std::nullopt);
  std::string_view cut = std::string_view(bytes).substr(0, 6);
  EXPECT_EQ(take_frame(cut), std::nullopt);
}

}  // namespace
}  // namespace shepherd
