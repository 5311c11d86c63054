// Tests for what a server offers besides its streams: health, reflection, metrics, logs.
#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <mutex>

#include "caller_fixture.h"
#include "shepherd/agent/server.h"

namespace shepherd::agent {
namespace {

using namespace std::chrono_literals;

// Sends one request over a plain socket, as a scraper would, and returns the answer.
std::string http(int port, const std::string& request) {
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  char bytes[1024];
  for (ssize_t got = 0; (got = ::recv(socket, bytes, sizeof bytes, 0)) > 0;)
    answer.append(bytes, static_cast<std::size_t>(got));
  ::close(socket);
  return answer;
}

TEST(ServerAround, MetricsAreServedToAScraper) {
  ServerOptions options = quiet();
  options.metrics_address = "127.0.0.1:0";
  AgentServer server(options, [](Execution& run) {
    while (!run.next_steering()) run.wait_for(1s);
  });
  Caller caller(server);
  EXPECT_TRUE(caller.start().steer("s", "go").end().ok());
  std::string answer = http(server.metrics_port(), "GET /metrics HTTP/1.1\r\nHost: agent\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), 0U) << answer;
  auto has = [&](const std::string& line) { return answer.find("\n" + line + "\n") != std::string::npos; };
  EXPECT_TRUE(has("agent_stream_messages_received_total 2")) << answer;
  EXPECT_TRUE(has("agent_stream_messages_sent_total " + std::to_string(caller.seen.size()))) << answer;
  EXPECT_TRUE(has("agent_steering_messages_total 1")) << answer;
  EXPECT_TRUE(has("# TYPE agent_steering_messages_total counter")) << answer;
  EXPECT_EQ(http(server.metrics_port(), "GET / HTTP/1.1\r\n\r\n").find("HTTP/1.1 404"), 0U);
}

TEST(ServerAround, MetricsAreNotServedUnlessAskedFor) {
  AgentServer server(quiet(), [](Execution&) {});
  EXPECT_EQ(server.metrics_port(), 0);
}

// Sends bytes to any method and returns the answer's bytes, or the status code's number when there is no answer.
std::string asked(const AgentServer& server, const std::string& method, const std::string& request) {
  auto channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server.port()), grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 30s);
  grpc::CompletionQueue queue;
  auto call = stub.PrepareCall(&context, method, &queue);
  void* tag = nullptr;
  bool ok = false;
  grpc::Slice slice(request);
  grpc::ByteBuffer message(&slice, 1), answer;
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  call->WriteLast(message, grpc::WriteOptions(), nullptr);
  queue.Next(&tag, &ok);
  call->Read(&answer, nullptr);
  queue.Next(&tag, &ok);
  bool answered = ok;
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  if (!answered) return "status " + std::to_string(status.error_code());
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(answer.Dump(&slices).ok());
  std::string text;
  for (const auto& each : slices) text.append(reinterpret_cast<const char*>(each.begin()), each.size());
  return text;
}

TEST(ServerAround, HealthIsServingForTheServerAndItsService) {
  AgentServer server(quiet(), [](Execution&) {});
  const std::string serving("\x08\x01", 2);  // HealthCheckResponse{status: SERVING}
  EXPECT_EQ(asked(server, "/grpc.health.v1.Health/Check", ""), serving);
  std::string service = "gibson.agent.AgentService";
  EXPECT_EQ(asked(server, "/grpc.health.v1.Health/Check",
                  "\x0a" + std::string(1, static_cast<char>(service.size())) + service),
            serving);
  EXPECT_EQ(asked(server, "/grpc.health.v1.Health/Check", "\x0a\x05other"), "status 5");
}

// A load balancer must not send new streams while the last ones end.
TEST(ServerAround, HealthIsNotServingFromTheBeginningOfAShutdown) {
  std::promise<void> told, release;
  AgentServer server(quiet(), [&, go_on = release.get_future().share()](Execution& run) {
    try {
      run.wait_for(1h);
    } catch (const Stopped&) {
      told.set_value();
      go_on.wait();  // keeps the shutdown waiting
    }
  });
  Caller caller(server);
  caller.start().until(pb::AGENT_STATUS_RUNNING);
  auto shutdown = std::async(std::launch::async, [&] { return server.shutdown(); });
  told.get_future().wait();
  const std::string not_serving("\x08\x02", 2);
  std::string service = "gibson.agent.AgentService";
  EXPECT_EQ(asked(server, "/grpc.health.v1.Health/Check", ""), not_serving);
  EXPECT_EQ(asked(server, "/grpc.health.v1.Health/Check",
                  "\x0a" + std::string(1, static_cast<char>(service.size())) + service),
            not_serving);
  release.set_value();
  EXPECT_TRUE(shutdown.get());
}

TEST(ServerAround, ReflectionKnowsTheService) {
  AgentServer server(quiet(), [](Execution&) {});
  std::string services = asked(server, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "\x3a\x01*");
  EXPECT_NE(services.find("gibson.agent.AgentService"), std::string::npos);
}

// Every step of a stream is a log record with its task, trace and span; records about steering messages also have their
// id.
TEST(ServerAround, EveryStepIsLoggedWithItsIds) {
  ServerOptions options = quiet();
  std::mutex mutex;
  std::vector<LogRecord> records;
  options.log = [&](const LogRecord& record) {
    std::lock_guard lock(mutex);
    records.push_back(record);
  };
  AgentServer server(options, [](Execution& run) {
    while (!run.checkpoint()) run.wait_for(1ms);
    while (!run.next_steering()) run.wait_for(1s);
    run.log(LogLevel::debug, "the work's own");
    throw Failure("CODE", "no more");
  });
  Caller caller(server, {{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}});
  caller.start().interrupt("stop").until(pb::AGENT_STATUS_INTERRUPTED);
  caller.resume("").until(pb::AGENT_STATUS_RUNNING);
  caller.steer("steer-7", "on").end();
  server.shutdown();
  std::lock_guard lock(mutex);
  std::vector<std::string> messages;
  for (const LogRecord& record : records) {
    messages.push_back(record.message);
    EXPECT_EQ(record.task_id, "task-1") << record.message;
    EXPECT_EQ(record.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736") << record.message;
    EXPECT_EQ(record.span_id, caller.seen[0].span_id()) << record.message;
    EXPECT_EQ(record.steering_id, record.message == "steering received" ? "steer-7" : "");
    EXPECT_EQ(record.level == LogLevel::error, record.message == "ended: AGENT_STATUS_FAILED");
  }
  EXPECT_EQ(messages, std::vector<std::string>({"started", "interrupted", "resumed", "steering received",
                                                "the work's own", "ended: AGENT_STATUS_FAILED"}));
}

}  // namespace
}  // namespace shepherd::agent
