// Tests for streams that something other than the work ends.
#include <future>
#include <utility>

#include "caller_fixture.h"
#include "conversation.h"
#include "shepherd/agent/server.h"

namespace shepherd::agent {
namespace {

using namespace std::chrono_literals;

// Work that runs until it is stopped and reports the reason.
struct EndlessWork {
  std::promise<StopReason> stopped;

  void operator()(Execution& run) {
    try {
      for (;;) run.wait_for(1h);
    } catch (const Stopped& stop) {
      stopped.set_value(stop.reason);
      throw;
    }
  }
};

StopReason reason_of(EndlessWork& work) {
  auto reason = work.stopped.get_future();
  EXPECT_EQ(reason.wait_for(30s), std::future_status::ready) << "the work goes on";
  return reason.get();
}

TEST(ServerEnd, ACancelledCallStopsItsWork) {
  EndlessWork work;
  AgentServer server(quiet(), std::ref(work));
  Caller caller(server);
  caller.start().until(pb::AGENT_STATUS_RUNNING);
  caller.cancel();
  EXPECT_EQ(reason_of(work), StopReason::cancelled);
  EXPECT_EQ(caller.end().error_code(), grpc::StatusCode::CANCELLED);
}

TEST(ServerEnd, AStreamClosedWhileInterruptedEnds) {
  EndlessWork work;
  AgentServer server(quiet(), std::ref(work));
  Caller caller(server);
  caller.start().interrupt("stop").until(pb::AGENT_STATUS_INTERRUPTED);
  EXPECT_TRUE(caller.half_close().end().ok());
  EXPECT_EQ(reason_of(work), StopReason::closed);
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_INTERRUPTED);
}

TEST(ServerEnd, WorkThatNeedsNobodyGoesOnAfterTheCallerClosedItsSide) {
  std::promise<void> closed;
  AgentServer server(quiet(), [go_on = closed.get_future().share()](Execution& run) {
    go_on.wait();
    run.output("done anyway");
  });
  Caller caller(server);
  caller.start().half_close();
  closed.set_value();
  EXPECT_TRUE(caller.end().ok());
  EXPECT_EQ(caller.output(), "done anyway");
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_COMPLETED);
}

TEST(ServerEnd, AShutdownTellsRunningStreamsAndEndsThem) {
  EndlessWork work;
  AgentServer server(quiet(), std::ref(work));
  Caller caller(server);
  caller.start().until(pb::AGENT_STATUS_RUNNING);
  auto end = std::async(std::launch::async, [&] { return caller.end(); });
  EXPECT_TRUE(server.shutdown());
  EXPECT_EQ(end.get().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(caller.statuses().back(), pb::AGENT_STATUS_INTERRUPTED);
  EXPECT_EQ(reason_of(work), StopReason::shutdown);
}

TEST(ServerEnd, AShutdownSaysThatWorkDoesNotReturn) {
  ServerOptions options = quiet();
  options.shutdown_deadline = 50ms;
  std::promise<void> release;
  AgentServer server(options, [go_on = release.get_future().share()](Execution&) { go_on.wait(); });
  Caller caller(server);
  caller.start().until(pb::AGENT_STATUS_RUNNING);
  EXPECT_FALSE(server.shutdown());
  EXPECT_EQ(caller.end().error_code(), grpc::StatusCode::UNAVAILABLE);
  release.set_value();  // otherwise the server could not be destroyed
}

TEST(ServerEnd, ACallerThatDoesNotReadIsGivenUpAfterTheSendDeadline) {
  ServerOptions options = quiet();
  options.send_queue = 4;
  options.send_deadline = 200ms;
  std::promise<StopReason> stopped;
  AgentServer server(options, [&](Execution& run) {
    std::string text(64 * 1024, 'x');
    try {
      for (;;) run.output(text);
    } catch (const Stopped& stop) {
      stopped.set_value(stop.reason);
      throw;
    }
  });
  Caller caller(server);
  caller.start();
  auto reason = stopped.get_future();
  ASSERT_EQ(reason.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(reason.get(), StopReason::send_deadline);
  EXPECT_FALSE(caller.end().ok());
}

// No sender waits any more, so without the check the stream would hold its place forever.
TEST(ServerEnd, ACallerThatDoesNotReadTheEndIsGivenUpToo) {
  ServerOptions options = quiet();
  options.max_streams = 1;
  options.send_queue = 1'000;
  options.send_deadline = 200ms;
  options.batch_interval = 1h;  // keeps batching out of this test
  std::promise<void> given_up;
  options.log = [&, told = false](const LogRecord& record) mutable {
    if (record.message.find("send_deadline") == std::string::npos || std::exchange(told, true)) return;
    EXPECT_EQ(record.task_id, "task-1");
    given_up.set_value();
  };
  AgentServer server(options, [](Execution& run) {
    for (int i = 0; run.task().id == "task-1" && i < 200; ++i) run.output(std::string(64 * 1024, 'x'));
  });
  Caller caller(server);
  caller.start();
  ASSERT_EQ(given_up.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_FALSE(caller.end().ok());
  for (;;) {  // the place is free once gRPC has released the stream
    Caller next(server);
    grpc::Status end = next.start(R"({"id":"task-2"})").end();
    if (end.ok()) break;
    ASSERT_EQ(end.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
}

// Every write completes in time, yet there is never room: acknowledgements skip the wait, and the caller sends quickly
// and reads slowly. No write hangs, so only the work can notice that it has waited too long.
TEST(ServerEnd, WorkThatWaitsToSendIsGivenUpThoughWritesMove) {
  ServerOptions options = quiet();
  options.send_queue = 1;
  options.send_deadline = 50ms;
  Metrics metrics;
  Conversation conversation(options, TraceContext::fresh(), metrics);
  pb::ClientMessage start, word;
  start.mutable_start()->set_task_json("{}");
  word.mutable_steering()->set_id("s");
  ASSERT_TRUE(conversation.start(start));
  conversation.receive(word);
  ASSERT_EQ(conversation.take_next().kind, NextStep::Kind::write);
  auto work = std::async(std::launch::async, [&] {
    try {
      conversation.flush();
    } catch (const Stopped& stop) {
      return std::string(name(stop.reason));
    }
    return std::string("there was room");
  });
  auto begun = std::chrono::steady_clock::now();
  while (work.wait_for(1ms) != std::future_status::ready) {
    if (std::chrono::steady_clock::now() - begun > 30s) conversation.stop(StopReason::cancelled);
    conversation.receive(word);  // its acknowledgement takes the room that the next lines make
    conversation.write_done(true);
    conversation.take_next();
  }
  EXPECT_EQ(work.get(), "send_deadline");
}

TEST(ServerEnd, TooManyStreamsAreRefused) {
  ServerOptions options = quiet();
  options.max_streams = 1;
  EndlessWork work;
  AgentServer server(options, std::ref(work));
  Caller first(server);
  first.start().until(pb::AGENT_STATUS_RUNNING);
  Caller second(server);
  EXPECT_EQ(second.start().end().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  first.cancel();
  first.end();
}

TEST(ServerEnd, ATokenIsAskedFor) {
  ServerOptions options = quiet();
  options.token = "secret";
  AgentServer server(options, [](Execution&) {});
  for (const char* wrong : {"", "Bearer", "Bearer secreT", "Bearer secret2", "secret"}) {
    Caller caller(server, {{"authorization", wrong}});
    EXPECT_EQ(caller.start().end().error_code(), grpc::StatusCode::UNAUTHENTICATED) << wrong;
  }
  Caller caller(server, {{"authorization", "Bearer secret"}});
  EXPECT_TRUE(caller.start().end().ok());
}

std::string problem_of(ServerOptions options) {
  try {
    AgentServer server(std::move(options), [](Execution&) {});
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
  return "none";
}

TEST(ServerEnd, WhatIsWrongWithFilesAndAddressesIsSaid) {
  auto with = [](auto change) {
    ServerOptions options = quiet();
    change(options);
    return problem_of(options);
  };
  EXPECT_EQ(with([](auto& o) { o.certificate_file = "c.pem"; }), "TLS needs both a certificate and a key");
  EXPECT_EQ(with([](auto& o) { o.certificate_file = o.key_file = "/nowhere.pem"; }), "cannot read /nowhere.pem");
  EXPECT_EQ(with([](auto& o) { o.certificate_file = o.key_file = "/etc/passwd"; }),
            "/etc/passwd has no PEM \"PRIVATE KEY\"");
  EXPECT_EQ(with([](auto& o) { o.client_ca_file = "ca.pem"; }), "client_ca_file needs TLS: a certificate and a key");
  EXPECT_EQ(with([](auto& o) { o.metrics_address = "9464"; }), "cannot serve metrics on 9464: it must be HOST:PORT");
  EXPECT_EQ(with([](auto& o) { o.steering_queue = 0; }), "a bound of 0 lets nothing through");
}

TEST(ServerEnd, ATakenPortIsSaid) {
  AgentServer server(quiet(), [](Execution&) {});
  ServerOptions same = quiet();
  same.address = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_THROW(AgentServer(same, [](Execution&) {}), std::runtime_error);
}

}  // namespace
}  // namespace shepherd::agent
