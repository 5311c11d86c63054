// Tests of a GrpcLink against a real gRPC server on loopback that echoes messages.
#include "runner/grpc_link.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "driver/grpc/record_frames.h"
#include "gibson/agent.grpc.pb.h"

namespace shepherd {
namespace {

namespace pb = gibson::agent;

// Echoes each message. "end" ends the call; after "deaf" it reads nothing until it is cancelled. It has its own threads
// (none of those that run a client's reactions).
class Echo final : public pb::AgentService::Service {
  using Stream = grpc::ServerReaderWriter<pb::AgentMessage, pb::ClientMessage>;
  grpc::Status StreamExecute(grpc::ServerContext* context, Stream* stream) override {
    pb::ClientMessage told;
    while (stream->Read(&told)) {
      const std::string& text = told.steering().content();
      if (text == "end") return {grpc::StatusCode::ABORTED, "as told"};
      while (text == "deaf" && !context->IsCancelled()) std::this_thread::yield();
      pb::AgentMessage said;
      said.mutable_output()->set_content(text);
      stream->Write(said);
    }
    return grpc::Status::OK;
  }
};

// Threads: the link's and the test's.
class Heard final : public AgentObserver {
 public:
  void on_output(AgentStream, std::string_view) override {}
  void on_record(std::string_view record) override {
    MutexLock lock(mutex_);
    pb::AgentMessage message;
    message.ParseFromString(std::string(record));
    records_.push_back(message.output().content());
    changed_.notify_all();
  }
  void on_end(const AgentEnd& end) override {
    MutexLock lock(mutex_);
    end_ = end;
    changed_.notify_all();
  }

  std::vector<std::string> records(std::size_t count) {
    MutexLock lock(mutex_);
    while (records_.size() < count && !end_) changed_.wait(mutex_);
    return records_;
  }
  AgentEnd end() {
    MutexLock lock(mutex_);
    while (!end_) changed_.wait(mutex_);
    return *end_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> records_ GUARDED_BY(mutex_);
  std::optional<AgentEnd> end_ GUARDED_BY(mutex_);
};

std::string framed(const std::string& text) {
  pb::ClientMessage message;
  message.mutable_steering()->set_content(text);
  std::string bytes;
  append_frame(bytes, message.SerializeAsString());
  return bytes;
}

class GrpcLinkTest : public testing::Test {
 protected:
  GrpcLinkTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
  }

  GrpcTarget target() const {
    GrpcTarget target;
    target.address = "127.0.0.1:" + std::to_string(port_);
    target.method = "/gibson.agent.AgentService/StreamExecute";
    return target;
  }

  SystemClock clock_;
  Heard heard_;

 private:
  Echo service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(GrpcLinkTest, MessagesPassBothWaysInOrder) {
  GrpcLink link(target(), heard_, clock_);
  ASSERT_TRUE(link.write(framed("one") + framed("two")));  // before it is connected
  ASSERT_TRUE(link.write(framed(std::string(300'000, 'x'))));
  EXPECT_EQ(heard_.records(3), (std::vector<std::string>{"one", "two", std::string(300'000, 'x')}));
  link.close_input();
  AgentEnd end = heard_.end();
  EXPECT_EQ(end.stream->status, 0);
  EXPECT_EQ(end.rung, StopRung::none);
  Result<void> late = link.write(framed("late"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::gone);
}

TEST_F(GrpcLinkTest, TheEndTellsTheStatusOfTheCall) {
  GrpcLink link(target(), heard_, clock_);
  ASSERT_TRUE(link.write(framed("end")));
  AgentEnd end = heard_.end();
  EXPECT_EQ(end.stream->status, grpc::StatusCode::ABORTED);
  EXPECT_EQ(end.stream->message, "as told");
}

TEST_F(GrpcLinkTest, ADeafServiceIsCancelledAtTheTopOfTheLadder) {
  GrpcLink link(target(), heard_, clock_);
  ASSERT_TRUE(link.write(framed("hello") + framed("deaf")));
  ASSERT_EQ(heard_.records(1).size(), 1U);
  bool interrupted = false;
  link.stop({.interrupt = [&] { return interrupted = true; },
             .interrupt_wait = std::chrono::milliseconds(20),
             .close_wait = std::chrono::milliseconds(20)});
  AgentEnd end = heard_.end();
  EXPECT_TRUE(interrupted);
  EXPECT_EQ(end.rung, StopRung::kill);
  EXPECT_EQ(end.stopped_by(), "cancel");
  EXPECT_EQ(end.stream->status, grpc::StatusCode::CANCELLED);
}

TEST_F(GrpcLinkTest, WhoeverDoesNotAnswerIsUnavailable) {
  GrpcTarget nobody = target();
  nobody.address = "127.0.0.1:1";
  nobody.connect_wait = std::chrono::milliseconds(50);
  GrpcLink link(nobody, heard_, clock_);
  EXPECT_EQ(heard_.end().stream->status, grpc::StatusCode::UNAVAILABLE);
}

// The last channel stops gRPC's threads and waits for them. Releasing it on one of them would crash the program.
TEST_F(GrpcLinkTest, LinksThatAreDestroyedAsSoonAsTheyEndLeaveGrpcWhole) {
  for (int i = 0; i < 300; ++i) {
    Heard heard;
    GrpcLink link(target(), heard, clock_);
    ASSERT_TRUE(link.write(framed("end")));
    ASSERT_EQ(heard.end().stream->status, grpc::StatusCode::ABORTED);
  }
}

}  // namespace
}  // namespace shepherd
