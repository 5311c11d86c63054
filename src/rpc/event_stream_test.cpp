// StreamEvents over loopback with a manual clock: callers that read nothing, read little, or have nothing to read.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/lane_set.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "bus/bus.h"
#include "model/wire_json.h"
#include "rpc/rpc_server.h"
#include "shepherd/observability/v1/observability.grpc.pb.h"
#include "store/memory/memory_store.h"

namespace shepherd {
namespace {

namespace v1 = observability::v1;
using namespace std::chrono_literals;

constexpr auto kPatience = 30s;  // for waits that do not depend on the manual clock

class NoAudit final : public Audit {
 public:
  void record(AuditRecord) override {}
};

// Threads: any.
class CountedPosts final : public Executor {
 public:
  explicit CountedPosts(Executor& inner) : inner_(inner) {}
  void post(Work work) override {
    ++count;
    inner_.post(std::move(work));
  }
  std::atomic<int> count{0};

 private:
  Executor& inner_;
};

class EventStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    auto access = Access::open(journal_, clock_, random_);
    ASSERT_TRUE(access) << access.error().message;
    access_ = std::move(*access);
    RpcConfig config{.address = "127.0.0.1:0", .tls_cert = {}, .tls_key = {}, .auth = false};
    auto server = RpcServer::listen({journal_, *access_, audit_, metrics_, clock_, *lanes_, {&posts_}}, config);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // the amount buffered for a caller must not grow by itself
    stub_ = v1::ObservabilityService::NewStub(
        grpc::CreateCustomChannel(server_->address(), grpc::InsecureChannelCredentials(), arguments));
    TaskSpec spec;
    spec.id = "t";
    await<Created>([&](auto done) { journal_.create_task(spec, "", std::move(done)); });
  }
  void TearDown() override {
    server_.reset();
    lanes_.reset();
    io_.reset();
  }

  template <class T>
  static void await(const std::function<void(Done<T>)>& begin) {
    std::promise<Result<T>> answer;
    begin([&](Result<T> result) { answer.set_value(std::move(result)); });
    Result<T> result = answer.get_future().get();
    ASSERT_TRUE(result) << result.error().message;
  }
  void append(std::size_t events, std::size_t bytes) {
    std::string json = "[";
    for (std::size_t i = 0; i < events; ++i) {
      json += (i == 0 ? "" : ",") + (R"({"type":"log","summary":")" + std::string(bytes, 'x') + R"("})");
    }
    auto drafts = decode_events(json + "]", Framing::json, Intake{.now_ms = clock_.wall_ms()});
    ASSERT_TRUE(drafts) << drafts.error().message;
    await<Appended>(
        [&](auto done) { journal_.append({"t", {}, std::move(*drafts), clock_.wall_ms(), false}, std::move(done)); });
  }
  void pass_a_second() {
    clock_.advance_ms(1'000);
    server_->tick();
  }
  // True proves, too, that the server's threads have run once more: the threads that end writes send its answers.
  bool lives() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::AgentList list;
    return stub_->ListAgents(&context, {}, &list).ok();
  }
  std::int64_t open_streams() { return metrics_.gauge("shepherd_grpc_streams", "").value(); }

  ManualClock clock_;
  MetricRegistry metrics_;
  SystemRandom random_;
  NoAudit audit_;
  MemoryStore store_;
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  std::unique_ptr<Lanes> lanes_ = std::make_unique<Lanes>(metrics_);
  std::unique_ptr<ThreadPool> io_ = std::make_unique<ThreadPool>("io", 1);
  CountedPosts posts_{*io_};
  Journal journal_{store_, hub_, bus_, lanes_->feeds, clock_, metrics_};
  std::unique_ptr<Access> access_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::ObservabilityService::Stub> stub_;
};

// A call over the fixture's task from its beginning.
struct Watcher {
  explicit Watcher(v1::ObservabilityService::Stub& stub) {
    context.set_deadline(std::chrono::system_clock::now() + 2 * kPatience);
    v1::StreamEventsRequest request;
    request.add_agent_ids("t");
    reader = stub.StreamEvents(&context, request);
  }
  // Reads through that event; returns false if the stream ended before.
  bool read_to(std::int64_t sequence) {
    v1::AgentEvent event;
    while (reader->Read(&event)) {
      if (event.sequence() == sequence) return true;
    }
    return false;
  }

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::AgentEvent>> reader;
};

TEST_F(EventStreamTest, ACallerWhoTakesNothingIsCutAfterTheWriteDeadline) {
  append(2'000, 2'000);  // many times what gRPC and the kernel buffer for a caller
  Watcher watcher(*stub_);
  ASSERT_TRUE(watcher.read_to(1));
  server_->tick();
  ASSERT_EQ(open_streams(), 1);
  auto begun = std::chrono::steady_clock::now();
  std::int64_t passed_ms = 0;
  while (open_streams() > 0 && std::chrono::steady_clock::now() - begun < kPatience) {
    pass_a_second();
    passed_ms += 1'000;
    ASSERT_TRUE(lives());
  }
  ASSERT_EQ(open_streams(), 0) << "nobody else lets go of it";
  EXPECT_GT(passed_ms, kWriteDeadline.count());
  EXPECT_FALSE(watcher.read_to(2'000)) << "what gRPC had kept for the caller, and then the end";
  EXPECT_EQ(watcher.reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(EventStreamTest, ACallerWhoTakesALittleIsNotCut) {
  append(2'000, 2'000);
  Watcher watcher(*stub_);
  for (std::int64_t read = 200; read <= 2'000; read += 200) {  // more than is buffered, so the server has written
    ASSERT_TRUE(watcher.read_to(read)) << watcher.reader->Finish().error_message();
    clock_.advance_ms(kWriteDeadline.count());
    server_->tick();
  }
}

TEST_F(EventStreamTest, ACallerWhoHasNothingToTakeIsNotCut) {
  append(1, 10);
  Watcher watcher(*stub_);
  ASSERT_TRUE(watcher.read_to(1));
  for (std::int64_t passed_ms = 0; passed_ms < 3 * kWriteDeadline.count(); passed_ms += 1'000) {
    pass_a_second();
    ASSERT_TRUE(lives());
  }
  append(1, 10);
  EXPECT_TRUE(watcher.read_to(2)) << watcher.reader->Finish().error_message();
}

TEST_F(EventStreamTest, ATickCostsOnePieceOfWorkASecondForAllStreams) {
  append(1, 10);
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 20; ++i) {
    watchers.push_back(std::make_unique<Watcher>(*stub_));
    ASSERT_TRUE(watchers.back()->read_to(1));
  }
  int before = -1;
  while (before != posts_.count) {  // until all have caught up
    before = posts_.count;
    for (int i = 0; i < 3; ++i) {
      std::promise<void> ran;
      io_->post([&] { ran.set_value(); });
      ran.get_future().wait();
      ASSERT_TRUE(lives());
    }
  }
  clock_.advance_ms(10'000);
  for (int i = 0; i < 8; ++i) {  // the server ticks four times a second
    server_->tick();
    clock_.advance_ms(250);
  }
  EXPECT_EQ(posts_.count - before, 2);
}

}  // namespace
}  // namespace shepherd
