// Tests whole streams over loopback, from the caller's view.
#include "shepherd/agent/server.h"

#include <condition_variable>
#include <future>
#include <mutex>

#include "caller_fixture.h"
#include "conversation.h"

namespace shepherd::agent {
namespace {

using namespace std::chrono_literals;
using Statuses = std::vector<pb::AgentStatus>;

TEST(Server, ARunIsNumberedTracedAndCompleted) {
  AgentServer server(quiet(), [](Execution& run) {
    run.reason("why ");
    run.output("what");
    std::string call = run.tool_call("look", "{}");
    run.tool_result(call, "{}", true);
    run.finding({.id = {}, .title = "t", .description = {}, .category = {}});
    run.error("CODE", "it goes on");
  });
  Caller caller(server, {{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}});
  EXPECT_TRUE(caller.start().end().ok());
  EXPECT_EQ(caller.statuses(), Statuses({pb::AGENT_STATUS_RUNNING, pb::AGENT_STATUS_COMPLETED}));
  std::vector<int> kinds;
  for (std::size_t i = 0; i < caller.seen.size(); ++i) {
    EXPECT_EQ(caller.seen[i].sequence(), static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(caller.seen[i].trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(caller.seen[i].span_id(), caller.seen[0].span_id());
    EXPECT_GT(caller.seen[i].timestamp_ms(), 1'600'000'000'000);
    kinds.push_back(caller.seen[i].payload_case());
  }
  EXPECT_EQ(kinds, std::vector<int>({pb::AgentMessage::kStatus, pb::AgentMessage::kOutput, pb::AgentMessage::kOutput,
                                     pb::AgentMessage::kToolCall, pb::AgentMessage::kToolResult,
                                     pb::AgentMessage::kFinding, pb::AgentMessage::kError, pb::AgentMessage::kStatus}));
  EXPECT_TRUE(caller.seen[1].output().is_reasoning());
  EXPECT_EQ(caller.seen[3].tool_call().call_id(), caller.seen[4].tool_result().call_id());
}

TEST(Server, SmallOutputIsJoinedBySizeAndSentByAge) {
  std::promise<void> seen;
  auto go_on = seen.get_future().share();
  AgentServer server(quiet(), [go_on](Execution& run) {
    for (int i = 0; i < 250; ++i) run.output("twenty bytes of text");
    run.output("the last");
    go_on.wait();  // sends nothing more, so the waiting text goes out by its age
  });
  Caller caller(server);
  caller.start().until(
      [&](const pb::AgentMessage& message) { return message.output().content().ends_with("the last"); });
  seen.set_value();
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output().size(), 250 * 20 + 8U);
  EXPECT_LE(caller.seen.size(), 2 + 8U) << "5,000 bytes in pieces of 1,000, or by age";
}

TEST(Server, OutputIsSentAtAThousandBytesAndNotBefore) {
  ServerOptions options = quiet();
  options.batch_interval = 1h;  // nothing is sent because of its age
  AgentServer server(options, [](Execution& run) {
    for (int i = 0; i < 250; ++i) run.output("twenty bytes of text");
    run.output("the rest");
  });
  Caller caller(server);
  EXPECT_TRUE(caller.start().end().ok());
  std::vector<std::size_t> sizes;
  for (const auto& message : caller.seen) {
    if (message.has_output()) sizes.push_back(message.output().content().size());
  }
  EXPECT_EQ(sizes, std::vector<std::size_t>({1000, 1000, 1000, 1000, 1000, 8}));
}

TEST(Server, WhatTheWorkThrowsIsAFatalErrorAndFailed) {
  AgentServer server(quiet(), [](Execution& run) {
    if (run.task().goal == "known") throw Failure("NO_MODEL", "no such model");
    throw std::runtime_error("surprise \xFF");
  });
  for (auto [goal, code] : {std::pair{"known", "NO_MODEL"}, std::pair{"other", "WORK_FAILED"}}) {
    Caller caller(server);
    EXPECT_TRUE(caller.start(std::string(R"({"goal":")") + goal + R"("})").end().ok());
    ASSERT_EQ(caller.seen.size(), 3U);
    EXPECT_EQ(caller.seen[1].error().code(), code);
    EXPECT_TRUE(caller.seen[1].error().fatal());
    EXPECT_EQ(caller.seen[2].status().status(), pb::AGENT_STATUS_FAILED);
  }
}

TEST(Server, AToolThatThrowsIsAFailedResultAndTheWorkGoesOn) {
  AgentServer server(quiet(), [](Execution& run) {
    EXPECT_FALSE(run.tool("read", "{}", []() -> std::string { throw std::runtime_error("gone"); }).has_value());
    EXPECT_EQ(run.tool("read", "{}", [] { return std::string("{\"a\":1}"); }), "{\"a\":1}");
  });
  Caller caller(server);
  EXPECT_TRUE(caller.start().end().ok());
  EXPECT_FALSE(caller.seen.at(2).tool_result().success());
  EXPECT_EQ(caller.seen.at(3).error().code(), "TOOL_FAILED");
  EXPECT_FALSE(caller.seen.at(3).error().fatal());
  EXPECT_TRUE(caller.seen.at(5).tool_result().success());
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_COMPLETED);
}

TEST(Server, ABadStartIsInvalidArgument) {
  AgentServer server(quiet(), [](Execution&) { FAIL() << "there is nothing to work on"; });
  EXPECT_EQ(Caller(server).steer("s", "first").end().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Caller(server).send({}).end().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Caller(server).half_close().end().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  grpc::Status broken = Caller(server).start("{\"id\":").end();
  EXPECT_EQ(broken.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(broken.error_message().find("task_json"), 0U) << broken.error_message();
}

TEST(Server, SteeringIsAcknowledgedAtOnceAndReachesTheWork) {
  ServerOptions options = quiet();
  options.acknowledge = [](const Steering& word) { return "will do: " + word.content; };
  std::vector<LogRecord> records;
  std::mutex mutex;
  options.log = [&](const LogRecord& record) {
    std::lock_guard lock(mutex);
    records.push_back(record);
  };
  std::promise<void> acknowledged;
  auto go_on = acknowledged.get_future().share();
  AgentServer server(options, [go_on](Execution& run) {
    go_on.wait();  // the work is busy, but the acknowledgement does not wait for it
    auto word = run.next_steering();
    ASSERT_TRUE(word.has_value());
    run.output(word->id + "=" + word->content);
    EXPECT_FALSE(run.next_steering().has_value());
  });
  Caller caller(server);
  caller.start().steer("steer-1", "look left");
  auto ack = caller.until([](const pb::AgentMessage& message) { return message.has_steering_ack(); });
  acknowledged.set_value();
  EXPECT_EQ(ack.steering_ack().message_id(), "steer-1");
  EXPECT_EQ(ack.steering_ack().response(), "will do: look left");
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output(), "steer-1=look left");
  EXPECT_EQ(server.metrics().steering_messages, 1U);
  EXPECT_EQ(server.metrics().messages_received, 2U);
  EXPECT_EQ(server.metrics().messages_sent, caller.seen.size());
  server.shutdown();
  std::lock_guard lock(mutex);
  bool found = false;
  for (const LogRecord& record : records) {
    found |= record.steering_id == "steer-1" && record.trace_id == caller.seen[0].trace_id() &&
             record.span_id == caller.seen[0].span_id() && record.task_id == "task-1";
  }
  EXPECT_TRUE(found);
}

TEST(Server, SteeringThatTheWorkDoesNotLookAtIsRefusedInItsAcknowledgement) {
  ServerOptions options = quiet();
  options.steering_queue = 2;
  std::promise<void> all_sent;
  AgentServer server(options, [go_on = all_sent.get_future().share()](Execution& run) {
    go_on.wait();
    while (auto word = run.next_steering()) run.output(word->content + ";");
  });
  Caller caller(server);
  caller.start().steer("s-1", "one").steer("s-2", "two").steer("s-3", "three");
  caller.until([](const pb::AgentMessage& message) { return message.steering_ack().message_id() == "s-3"; });
  EXPECT_EQ(caller.seen.back().steering_ack().response().find("refused"), 0U);
  all_sent.set_value();
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output(), "one;two;") << "in order, and not the refused one";
  EXPECT_EQ(server.metrics().steering_messages, 3U);
}

TEST(Server, WhatASteeringMessageCarriesReachesTheWork) {
  AgentServer server(quiet(), [](Execution& run) {
    auto word = run.next_steering();
    while (!word) {
      run.wait_for(1h);  // a steering message ends the pause
      word = run.next_steering();
    }
    run.output(word->metadata.at("priority") + (word->is_resume ? " resume" : " steering"));
  });
  pb::ClientMessage message;
  message.mutable_steering()->set_id("s");
  (*message.mutable_steering()->mutable_metadata())["priority"] = "high";
  Caller caller(server);
  EXPECT_TRUE(caller.start().send(message).end().ok());
  EXPECT_EQ(caller.output(), "high steering");
}

// A message may arrive between a look that found nothing and the pause after it.
TEST(Server, AWordThatCameBeforeThePauseEndsIt) {
  std::promise<void> looked, heard;
  std::chrono::steady_clock::duration second_pause{};
  AgentServer server(quiet(), [&, go_on = heard.get_future().share()](Execution& run) {
    EXPECT_FALSE(run.next_steering());
    looked.set_value();
    go_on.wait();
    run.wait_for(1h);
    auto begun = std::chrono::steady_clock::now();
    run.wait_for(30ms);
    second_pause = std::chrono::steady_clock::now() - begun;
    run.output(run.next_steering()->content);
  });
  Caller caller(server);
  caller.start();
  looked.get_future().wait();
  caller.steer("s-1", "look here").until([](const pb::AgentMessage& message) { return message.has_steering_ack(); });
  heard.set_value();
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output(), "look here");
  EXPECT_GE(second_pause, 30ms) << "a word that the work leaves ends one pause, not all";
}

TEST(Server, NothingIsSentWhileInterruptedButAcknowledgements) {
  std::promise<void> interrupted;
  AgentServer server(quiet(), [go_on = interrupted.get_future().share()](Execution& run) {
    run.output("before");
    go_on.wait();
    run.output("after");
  });
  Caller caller(server);
  caller.start().until([](const pb::AgentMessage& message) { return message.has_output(); });
  caller.interrupt("hold").steer("s-1", "heard?");  // the library reads both before the work continues
  caller.until([](const pb::AgentMessage& message) { return message.has_steering_ack(); });
  interrupted.set_value();
  caller.until(pb::AGENT_STATUS_INTERRUPTED);
  EXPECT_EQ(caller.output(), "before") << "the call that comes after the interrupt waits";
  caller.steer("s-2", "and now?");
  auto next = caller.until([](const pb::AgentMessage&) { return true; });
  EXPECT_EQ(next.steering_ack().message_id(), "s-2") << "no output between";
  caller.resume("");
  next = caller.until([](const pb::AgentMessage&) { return true; });
  EXPECT_EQ(next.status().status(), pb::AGENT_STATUS_RUNNING);
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output(), "beforeafter");
}

TEST(Server, TheCallerIsNotReadWhileWhatWeSayWaits) {
  ServerOptions options = quiet();
  options.send_queue = 1;
  Metrics metrics;
  Conversation conversation(options, TraceContext::fresh(), metrics);
  pb::ClientMessage start;
  start.mutable_start()->set_task_json("{}");
  ASSERT_TRUE(conversation.start(start));
  EXPECT_FALSE(conversation.may_read()) << "RUNNING waits";
  EXPECT_EQ(conversation.take_next().kind, NextStep::Kind::write);
  EXPECT_TRUE(conversation.write_done(true)) << "reading goes on";
  EXPECT_TRUE(conversation.may_read());
}

TEST(Server, ASecondStartIsAnErrorThatEndsNothing) {
  AgentServer server(quiet(), [](Execution& run) {
    while (!run.next_steering()) run.wait_for(1s);
  });
  Caller caller(server);
  caller.start().start();
  auto error = caller.until([](const pb::AgentMessage& message) { return message.has_error(); });
  EXPECT_EQ(error.error().code(), "ALREADY_STARTED");
  EXPECT_FALSE(error.error().fatal());
  EXPECT_TRUE(caller.steer("s", "go").end().ok());
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_COMPLETED);
}

TEST(Server, AnInterruptPausesTheWorkUntilTheResume) {
  AgentServer server(quiet(), [](Execution& run) {
    while (!run.checkpoint()) run.wait_for(1ms);
    run.output("guided: " + run.next_steering()->content);
  });
  Caller caller(server);
  caller.start().interrupt("wrong way");
  EXPECT_EQ(caller.until(pb::AGENT_STATUS_INTERRUPTED).status().message(), "wrong way");
  caller.resume("left instead");
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.statuses(), Statuses({pb::AGENT_STATUS_RUNNING, pb::AGENT_STATUS_INTERRUPTED,
                                         pb::AGENT_STATUS_RUNNING, pb::AGENT_STATUS_COMPLETED}));
  EXPECT_EQ(caller.output(), "guided: left instead");
}

TEST(Server, AnInterruptTheWorkNeverLooksAtIsHonouredAtItsEnd) {
  std::promise<void> interrupted;
  AgentServer server(quiet(), [&](Execution& run) {
    while (!run.interrupted()) std::this_thread::yield();
  });
  Caller caller(server);
  caller.start().interrupt("now").until(pb::AGENT_STATUS_INTERRUPTED);
  caller.resume("");
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_COMPLETED);
}

TEST(Server, InteractiveWorkWaitsForInputAndAutonomousWorkDoesNot) {
  AgentServer server(quiet(), [](Execution& run) {
    for (int i = 0; i < 3; ++i) {
      auto word = run.wait_for_input("shall I?");
      run.output(word ? word->content : "alone");
    }
  });
  Caller caller(server);
  caller.start("{}", pb::AGENT_MODE_INTERACTIVE);
  EXPECT_EQ(caller.until(pb::AGENT_STATUS_WAITING_FOR_INPUT).status().message(), "shall I?");
  caller.steer("s-1", "yes").until(pb::AGENT_STATUS_RUNNING);
  caller.until(pb::AGENT_STATUS_WAITING_FOR_INPUT);
  caller.set_mode(pb::AGENT_MODE_AUTONOMOUS);
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output(), "yesalonealone");
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_COMPLETED);
}

}  // namespace
}  // namespace shepherd::agent
