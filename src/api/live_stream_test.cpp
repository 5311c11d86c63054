// The loop between a feed and a connection, single-threaded: slow peers, keep-alives, cuts, failures.
#include "api/live_stream.h"

#include <gtest/gtest.h>

#include "api/api_fixture.h"
#include "api/frames.h"
#include "api/limits.h"
#include "api/live_logs.h"
#include "api/live_sse.h"
#include "api/live_websocket.h"
#include "base/manual_executor.h"
#include "model/wire_json.h"
#include "net/limits.h"

namespace shepherd {
namespace {

// A peer that accepts bytes only while `takes` is true.
class ScriptedConnection final : public net::StreamConnection {
 public:
  explicit ScriptedConnection(Executor& executor) : executor_(executor) {}

  bool write(std::span<const ByteSpan> spans) override {
    for (const ByteSpan& span : spans) sent += span.bytes;
    ++writes;
    return takes;
  }
  void finish(std::uint16_t code, std::string_view) override { closed_with = code; }
  Executor& executor() override { return executor_; }

  std::string sent;
  int writes = 0;
  int closed_with = 0;
  bool takes = true;

 private:
  Executor& executor_;
};

class LiveStreamTest : public testing::Test {
 protected:
  LiveStreamTest() {
    auto opened = Access::open(journal_, clock_, random_);
    access_ = std::move(*opened);
    steering_ = std::move(*Steering::open({journal_, workers_, clock_, random_, metrics_, nullptr}, {}));
    core_ = std::make_unique<Core>(ApiParts{journal_,
                                            *steering_,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            nullptr,
                                            *access_,
                                            audit_,
                                            metrics_,
                                            clock_,
                                            random_,
                                            redactor_,
                                            condense_,
                                            lanes_,
                                            {}});
    create("t1");
  }
  ~LiveStreamTest() override {
    if (stream_ != nullptr && connected_) close();
    stream_.reset();
    settle();
  }

  void create(const std::string& task) {
    TaskSpec spec;
    spec.id = task;
    journal_.create_task(spec, "", [](Result<Created>) {});
    settle();
  }
  void settle() {
    for (bool busy = true; busy;) {
      busy = journal_.step();
      busy = workers_.run_one() || busy;
      busy = io_.run_one() || busy;
    }
  }
  void append(const std::string& summary, const std::string& type = "log", const std::string& task = "t1") {
    Intake intake;
    intake.now_ms = clock_.wall_ms();
    AppendRequest request;
    request.task = task;
    request.received_ms = clock_.wall_ms();
    request.drafts =
        *decode_events(R"({"type":")" + type + R"(","summary":")" + summary + "\"}", Framing::json, intake);
    journal_.append(std::move(request), [](Result<Appended> appended) { EXPECT_TRUE(appended); });
    settle();
  }
  StreamTrail trail() {
    StreamTrail made;
    made.principal = principal_;
    made.task = "t1";
    made.status = 200;
    return made;
  }
  void open(std::shared_ptr<LiveStream> stream) {
    stream_ = std::move(stream);
    connected_ = true;
    stream_->on_open(connection_);
    settle();
  }
  void open_sse() {
    FeedOptions options;
    options.task = "t1";
    options.encoder = &sse_task_frames();
    open(std::make_shared<LiveSse>(*core_, std::move(options), trail(), "0"));
  }
  void close() {
    connected_ = false;
    stream_->on_close(net::CloseCause::peer);
    settle();
  }
  bool sent(std::string_view text) const { return connection_.sent.find(text) != std::string::npos; }

  ManualClock clock_;
  SystemRandom random_;
  MetricRegistry metrics_;
  Fault fault_ = Fault::none;
  MemoryStore store_{[this] { return fault_; }};
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ManualExecutor workers_, io_;
  Lanes lanes_{metrics_};
  Journal journal_{store_, hub_, bus_, workers_, clock_, metrics_, false};
  Redactor redactor_ = std::move(*Redactor::create({}));
  CondenseRules condense_;
  std::unique_ptr<Steering> steering_;
  AuditInMemory audit_;
  std::unique_ptr<Access> access_;
  std::shared_ptr<const Principal> principal_ = std::make_shared<Principal>();
  std::unique_ptr<Core> core_;
  ScriptedConnection connection_{io_};
  std::shared_ptr<LiveStream> stream_;
  bool connected_ = false;
};

TEST_F(LiveStreamTest, ASlowPeerGetsNothingMoreUntilItHasDrained) {
  open_sse();
  EXPECT_TRUE(connection_.sent.starts_with("id: 0\n\n")) << connection_.sent;
  connection_.takes = false;
  append("one");
  int writes = connection_.writes;
  append("two");
  append("three");
  EXPECT_EQ(connection_.writes, writes);
  connection_.takes = true;
  stream_->on_drained();
  settle();
  EXPECT_TRUE(sent("two"));
  EXPECT_TRUE(sent("three"));
  EXPECT_EQ(connection_.writes, writes + 1) << "one write carries all that is pending";
}

TEST_F(LiveStreamTest, AQuietEventStreamIsKeptAlive) {
  open_sse();
  std::int64_t now = 1'000'000;
  stream_->on_tick(now);
  stream_->on_tick(now + kKeepAlive.count() - 1);
  EXPECT_FALSE(sent(kSseKeepAlive));
  stream_->on_tick(now + kKeepAlive.count());
  EXPECT_TRUE(sent(kSseKeepAlive));
  append("one");
  connection_.sent.clear();
  stream_->on_tick(now + 2 * kKeepAlive.count());
  EXPECT_FALSE(sent(kSseKeepAlive)) << "traffic counts";
}

TEST_F(LiveStreamTest, TheEndOfTheTaskEndsTheStream) {
  open_sse();
  Intake intake;
  AppendRequest request;
  request.task = "t1";
  request.drafts = *decode_status_update(R"({"event":"completed","message":"ok"})", intake);
  journal_.append(std::move(request), [](Result<Appended>) {});
  settle();
  EXPECT_TRUE(sent("id: 1.end\n\n"));
  EXPECT_EQ(connection_.closed_with, 1000);
}

TEST_F(LiveStreamTest, CutsReachOnlyTheirStreams) {
  open_sse();
  core_->live.cut_token("somebody else", 4101, "revoked");
  settle();
  EXPECT_EQ(connection_.closed_with, 0);
  journal_.delete_task("t1", [](Result<void> deleted) { EXPECT_TRUE(deleted); });
  settle();
  EXPECT_EQ(connection_.closed_with, 4102) << "the hub tells the feed of a deleted task";
}

TEST_F(LiveStreamTest, AStreamThatClosesIsForgotten) {
  open_sse();
  EXPECT_EQ(core_->live.size(), 1U);
  close();
  EXPECT_EQ(core_->live.size(), 0U);
  std::weak_ptr<LiveStream> weak = stream_;
  stream_.reset();
  EXPECT_TRUE(weak.expired());
  ASSERT_EQ(audit_.records().size(), 1U);
  EXPECT_EQ(audit_.records()[0].reason, "peer");
  append("nobody hears it");
}

TEST_F(LiveStreamTest, ShutdownSaysSo) {
  open_sse();
  stream_->on_shutdown();
  EXPECT_EQ(connection_.closed_with, 1001);
}

TEST_F(LiveStreamTest, AClientThatDoesNotReadItsAnswersIsClosed) {
  FeedOptions options;
  options.task = "t1";
  options.encoder = &websocket_task_frames();
  open(std::make_shared<LiveWebSocket>(*core_, std::move(options), trail()));
  connection_.takes = false;
  append("one");
  for (int i = 0; i < 10'000 && connection_.closed_with == 0; ++i) stream_->on_message("nonsense");
  EXPECT_EQ(connection_.closed_with, 4100);
}

// Each log has more than a peer takes at once.
TEST_F(LiveStreamTest, LogsOnASlowConnectionTakeTurnsAndLoseNothing) {
  create("t2");
  constexpr int kEach = 60;
  for (int i = 0; i < kEach; ++i) {
    for (const char* task : {"t1", "t2"}) append(std::string(10'000, 'x'), "log", task);
  }
  open(std::make_shared<LiveLogs>(*core_, TypeFilter{}, false, trail()));
  connection_.takes = false;
  stream_->on_message(R"({"type":"subscribe","logs":{"t1":0,"t2":0}})");
  settle();
  auto count = [&](const std::string& text) {
    int found = 0;
    for (auto at = connection_.sent.find(text); at != std::string::npos; at = connection_.sent.find(text, at + 1)) {
      ++found;
    }
    return found;
  };
  const std::string first = R"({"type":"task_event","taskID":"t1",)", second = R"({"type":"task_event","taskID":"t2",)";
  for (int i = 0; i < 4; ++i) {
    stream_->on_drained();
    settle();
  }
  EXPECT_TRUE(count(first) > 0 && count(second) > 0);
  EXPECT_LT(count(first) + count(second), 2 * kEach) << "nothing is written to a peer that does not take it";
  for (int i = 0; i < 4 * kEach && count("caught_up") < 2; ++i) {
    stream_->on_drained();
    settle();
  }
  EXPECT_EQ(count(first), kEach);
  EXPECT_EQ(count(second), kEach);
}

// A stream that gets messages of many logs and keeps them.
class Watcher final : public LiveStream {
 public:
  using LiveStream::LiveStream;
  bool wants_task_updates() const override { return true; }
  void on_task_updates(const std::vector<TaskUpdate>& updates) override {
    for (const TaskUpdate& update : updates) told.emplace_back(update.frame.bytes);
  }
  void on_inbox_update(const ByteSpan& frame) override { told.emplace_back(frame.bytes); }

  std::vector<std::string> told;
};

// The queue of an io thread has no bound of its own.
TEST_F(LiveStreamTest, AnIoThreadThatStandsStillGetsOneMessageForAStream) {
  FeedOptions options;
  options.task = "t1";
  options.encoder = &sse_task_frames();
  auto watcher = std::make_shared<Watcher>(*core_, std::move(options), trail());
  open(watcher);
  auto inbox = std::move(*Inbox::open(journal_, workers_, clock_));
  InboxUpdates inbox_updates(inbox.get(), clock_, core_->live);
  TaskUpdates updates(journal_, *steering_, nullptr, workers_, clock_, core_->live);
  updates.watch(*store_.newest_place());
  settle();
  auto work = [&] {
    while (workers_.run_one() || journal_.step()) {
    }
  };
  auto rename = [&](const std::string& title) {
    clock_.advance_ms(kTaskUpdateInterval.count());
    journal_.update_task(
        "t1",
        [title](TaskSpec& spec) -> Result<void> {
          spec.title = title;
          return {};
        },
        [](Result<Task> renamed) { ASSERT_TRUE(renamed); });
    work();
    updates.tick();
    work();
  };
  for (const char* title : {"first", "second", "third"}) rename(title);
  EXPECT_EQ(io_.pending(), 1U);
  settle();
  ASSERT_EQ(watcher->told.size(), 2U);
  EXPECT_NE(watcher->told[0].find("first"), std::string::npos);
  EXPECT_NE(watcher->told[1].find("third"), std::string::npos) << "the newest row, once the thread runs again";

  watcher->told.clear();
  for (const char* task : {"a", "b", "c"}) {
    TaskSpec spec;
    spec.id = task;
    journal_.create_task(spec, "", [](Result<Created>) {});
    work();
    AppendRequest asks{task, {}, {}, clock_.wall_ms(), false};
    asks.drafts = *decode_events(R"({"type":"status","summary":"which?","data":{"state":"waiting_for_input"}})",
                                 Framing::json, Intake{});
    journal_.append(std::move(asks), [](Result<Appended> appended) { EXPECT_TRUE(appended); });
    clock_.advance_ms(kInboxUpdateInterval.count());
    work();
    inbox_updates.tick();
  }
  EXPECT_EQ(io_.pending(), 2U) << "one of each kind";
  settle();
  clock_.advance_ms(kInboxUpdateInterval.count());
  inbox_updates.tick();
  settle();
  EXPECT_NE(watcher->told.back().find(R"("total":3)"), std::string::npos) << watcher->told.back();
  updates.unwatch();
  inbox->stop();
}

}  // namespace
}  // namespace shepherd
