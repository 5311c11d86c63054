#include "journal/journal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/limits.h"
#include "base/manual_executor.h"
#include "hub/limits.h"
#include "hub/test_frames.h"
#include "journal/limits.h"
#include "model/wire_json.h"
#include "store/limits.h"
#include "store/memory/forwarding_store.h"
#include "store/memory/memory_store.h"

namespace shepherd {
namespace {

// A consumer that always requests more and keeps all frames as text.
class Reader final : public FeedConsumer {
 public:
  void on_frames(FrameBatch&& batch) override {
    text += text_of(batch.spans);
    ended = batch.end;
    if (!ended && eager) feed->next();
  }
  void on_feed_error(const Error& error) override { reason = error.reason; }
  std::string text, reason;
  bool ended = false;
  bool eager = true;
  std::unique_ptr<Feed> feed;
};

class JournalTest : public testing::Test {
 protected:
  JournalTest() { make_task("t"); }
  ~JournalTest() override {
    journal_.drain();
    turn();
  }

  void make_task(const std::string& id) {
    TaskSpec spec;
    spec.id = id;
    spec.description = "test";
    journal_.create_task(spec, "", [](Result<Created> created) { ASSERT_TRUE(created.has_value()); });
    turn();
  }
  // Runs everything that is due.
  void turn() {
    while (journal_.step() || workers_.run_one() || io_.run_one()) {
    }
  }
  Result<Appended> post(const std::string& json, Producer producer = {}, const std::string& task = "t") {
    Result<Appended> answer = fail(ErrorCode::internal, "unanswered", "no answer yet");
    start_post(json, std::move(producer), task, answer);
    turn();
    return answer;
  }
  void start_post(const std::string& json, Producer producer, const std::string& task, Result<Appended>& answer) {
    auto drafts = decode_events(json, Framing::json, Intake{.now_ms = clock_.wall_ms()});
    ASSERT_TRUE(drafts.has_value()) << drafts.error().message;
    journal_.append({task, std::move(producer), std::move(*drafts), clock_.wall_ms(), false},
                    [&answer](Result<Appended> appended) { answer = std::move(appended); });
  }
  // Returns the text of its replay. The tail has only the end of it.
  std::string append_log(std::size_t events) {
    std::string expected;
    for (std::size_t i = 1; i <= events;) {
      std::string json = "[";
      for (std::size_t end = i + kMaxStoredBatchEvents; i < end && i <= events; ++i) {
        json += log_json("x") + ",";
        expected += "e" + std::to_string(i) + " ";
      }
      json.back() = ']';
      post(json);
    }
    return expected + "caught_up" + std::to_string(events) + " ";
  }
  template <class Consumer>
  void open(Consumer& reader, FeedOptions options) {
    options.executor = &io_;
    if (options.encoder == nullptr) options.encoder = options.task.empty() ? &all_frames_ : &frames_;
    reader.feed = journal_.open_feed(std::move(options), reader);
    reader.feed->next();
    turn();
  }
  std::vector<std::string> summaries() {
    std::vector<std::string> out;
    auto page = store_.read("t", 0, {10'000, 100 * kMiB});
    for (const auto& stored : page->batches) {
      for (std::size_t i = 0; i < stored->size(); ++i) out.push_back(parse_event(stored->event(i))->summary);
    }
    return out;
  }
  static std::string log_json(const std::string& summary, int sequence = 0) {
    return R"({"type":"log","summary":")" + summary + "\"" +
           (sequence == 0 ? "" : R"(,"sequence":)" + std::to_string(sequence)) + "}";
  }

  ManualClock clock_;
  MetricRegistry metrics_;
  MemoryStore store_;
  ManualExecutor io_, workers_;
  NoBus bus_;
  Hub hub_{clock_, metrics_};
  TextFrames frames_{false}, all_frames_{true};
  Journal journal_{store_, hub_, bus_, workers_, clock_, metrics_, false};
};

TEST_F(JournalTest, AFeedReplaysThenFollowsWithoutASeam) {
  post(log_json("a"));
  post(log_json("b"));
  Reader reader;
  open(reader, {.task = "t"});
  EXPECT_EQ(reader.text, "e1 e2 caught_up2 ");
  post(log_json("c"));
  EXPECT_EQ(reader.text, "e1 e2 caught_up2 e3 ");
}

// A producer that has its answer may be the next reader.
TEST_F(JournalTest, WhatIsAnsweredIsThereForWhoeverLooksNext) {
  Reader watching, asking;
  open(watching, {.task = ""});
  auto drafts = decode_events(log_json("a"), Framing::json, Intake{.now_ms = clock_.wall_ms()});
  journal_.append({"t", {}, std::move(*drafts), clock_.wall_ms(), false}, [&](const Result<Appended>& appended) {
    ASSERT_TRUE(appended.has_value());
    asking.feed = journal_.open_feed({.task = "", .encoder = &all_frames_, .executor = &io_}, asking);
    asking.feed->next();
  });
  turn();
  EXPECT_EQ(asking.text, "e1 caught_up1 ");
  EXPECT_EQ(watching.text, "caught_up0 e1 ");
}

TEST_F(JournalTest, AFeedResumesAfterItsCursor) {
  for (int i = 0; i < 5; ++i) post(log_json("x"));
  Reader reader;
  open(reader, {.task = "t", .after = 3});
  EXPECT_EQ(reader.text, "e4 e5 caught_up5 ");
}

TEST_F(JournalTest, AnEventCommittedDuringTheFirstReadIsNotLost) {
  post(log_json("a"));
  Reader reader;
  FeedOptions options{.task = "t"};
  options.executor = &io_;
  options.encoder = &frames_;
  reader.feed = journal_.open_feed(options, reader);
  reader.feed->next();
  workers_.run_one();  // the store read is done, and its answer is queued
  Result<Appended> answer;
  start_post(log_json("b"), {}, "t", answer);
  journal_.step();
  turn();
  EXPECT_EQ(reader.text, "e1 e2 caught_up2 ");
}

TEST_F(JournalTest, TheEndOfATaskEndsItsFeed) {
  Reader reader;
  open(reader, {.task = "t"});
  post(R"({"type":"status","summary":"done","data":{"state":"completed"}})");
  EXPECT_TRUE(reader.ended);
  EXPECT_EQ(reader.text, "caught_up0 e1 complete:t ");
  Reader later;
  open(later, {.task = "t", .after = 1});
  EXPECT_TRUE(later.ended);
  EXPECT_EQ(later.text, "caught_up1 complete:t ");
}

TEST_F(JournalTest, AMultiplexedFeedGoesOnAfterATasksEnd) {
  make_task("u");
  Reader reader;
  open(reader, {});
  post(R"({"type":"status","summary":"done","data":{"state":"completed"}})");
  post(log_json("x"), {}, "u");
  EXPECT_FALSE(reader.ended);
  EXPECT_EQ(reader.text, "caught_up0 e1 complete:t e2 ");
  Reader replay;
  open(replay, {});
  EXPECT_EQ(replay.text, "e1 complete:t e2 caught_up2 ");
}

TEST_F(JournalTest, AMultiplexedFeedOfChosenTasks) {
  make_task("u");
  Reader reader;
  open(reader, {.tasks = std::set<std::string>{"u"}});
  post(log_json("x"));
  post(log_json("x"), {}, "u");
  EXPECT_EQ(reader.text, "caught_up0 e2 ");
  reader.feed->set_tasks(std::set<std::string>{"t"});
  post(log_json("x"));
  post(log_json("x"), {}, "u");
  EXPECT_EQ(reader.text, "caught_up0 e2 e3 ");
}

// The page that is being read lacks the events of a task that is chosen meanwhile.
TEST_F(JournalTest, ATaskChosenDuringAReadMissesNothing) {
  make_task("u");
  post(log_json("x"));
  post(log_json("x"), {}, "u");
  Reader reader;
  reader.feed =
      journal_.open_feed({.tasks = std::set<std::string>{"t"}, .encoder = &all_frames_, .executor = &io_}, reader);
  reader.feed->next();  // waits for the store
  reader.feed->set_tasks(std::set<std::string>{"t", "u"});
  turn();
  EXPECT_EQ(reader.text, "e1 e2 caught_up2 ");
}

TEST_F(JournalTest, AFilteredFeedMovesItsCursorWithoutEvents) {
  Reader reader;
  FeedOptions options{.task = "t"};
  options.types.known = mask_of(EventType::tool_call);
  open(reader, options);
  for (int i = 0; i < 10; ++i) post(log_json("x"));
  clock_.advance_ms(kPositionInterval.count());
  reader.feed->tick(clock_.steady_ms());
  EXPECT_EQ(reader.text, "caught_up0 position10 ");
  post(R"({"type":"tool_call","summary":"x"})");
  EXPECT_EQ(reader.text, "caught_up0 position10 e11 ");
}

TEST_F(JournalTest, AFilteredReplayTellsItsPositionEveryThousand) {
  std::string batch = "[";
  for (int i = 0; i < 2500; ++i) batch += (i == 0 ? "" : ",") + log_json("x");
  post(batch + "]");
  Reader reader;
  FeedOptions options{.task = "t"};
  options.types.known = mask_of(EventType::tool_call);
  open(reader, options);
  EXPECT_NE(reader.text.find("position"), std::string::npos) << reader.text;
  EXPECT_NE(reader.text.find("caught_up2500"), std::string::npos) << reader.text;
}

// Once, a position at the end of the log left the feed waiting, and the following next() failed an assertion: the
// server crashed when a filtered consumer was busy while a thousand other events passed.
TEST_F(JournalTest, APositionAtTheEndDoesNotLeaveTheFeedWaiting) {
  Reader reader;
  reader.eager = false;
  FeedOptions options{.task = "t"};
  options.types.known = mask_of(EventType::tool_call);
  open(reader, options);
  for (std::size_t i = 0; i < kPositionEvery / 2; ++i) post(log_json("x"));
  reader.feed->next();
  post(R"({"type":"tool_call","summary":"x"})");
  for (std::size_t i = 0; i < kPositionEvery / 2; ++i) post(log_json("x"));
  reader.feed->next();
  turn();
  std::string position = "position" + std::to_string(kPositionEvery + 1) + " ";
  EXPECT_EQ(reader.text, "caught_up0 e" + std::to_string(kPositionEvery / 2 + 1) + " " + position);
  reader.feed->next();
  post(R"({"type":"tool_call","summary":"x"})");
  EXPECT_TRUE(reader.text.ends_with(position + "e" + std::to_string(kPositionEvery + 2) + " ")) << reader.text;
}

TEST_F(JournalTest, WhatRetentionTookIsAnnounced) {
  for (int i = 0; i < 6; ++i) post(log_json("x"));
  journal_.write([](WriteTxn& txn) { return txn.drop_through("t", 4); }, [](Result<void>) {});
  turn();
  Reader reader;
  open(reader, {.task = "t", .after = 1});
  EXPECT_EQ(reader.text, "gap2-4 e5 e6 caught_up6 ");
}

TEST_F(JournalTest, ASlowConsumerReadsTheStoreAndMissesNothing) {
  Reader reader;
  reader.eager = false;
  open(reader, {.task = "t"});
  std::string expected = "caught_up0 ";
  for (std::size_t i = 1; i <= kTailEvents * 2; ++i) {
    post(log_json("x"));
    expected += "e" + std::to_string(i) + " ";
  }
  reader.eager = true;
  reader.feed->next();
  turn();
  EXPECT_EQ(reader.text, expected);
}

class PageReader final : public FeedConsumer {
 public:
  explicit PageReader(ManualExecutor& workers) : workers_(workers) {}
  void on_frames(FrameBatch&& batch) override {
    text += text_of(batch.spans);
    ahead.push_back(workers_.pending());
    if (ahead.size() != stall_after) feed->next();
  }
  void on_feed_error(const Error& error) override { FAIL() << error.reason; }

  std::string text;
  std::vector<std::size_t> ahead;  // concurrent reads when each page arrived
  std::size_t stall_after = 0;     // in pages; 0 means never
  std::unique_ptr<Feed> feed;

 private:
  ManualExecutor& workers_;
};

TEST_F(JournalTest, AQuickConsumersNextPageIsReadWhileOneIsWritten) {
  std::string expected = append_log(3 * kFeedReadEvents);
  PageReader reader(workers_);
  open(reader, {.task = "t"});
  EXPECT_EQ(reader.text, expected);
  ASSERT_GE(reader.ahead.size(), 3u);
  EXPECT_EQ(reader.ahead[0], 0u) << "nobody knows yet that it is quick";
  EXPECT_EQ(reader.ahead[1], 1u);
}

TEST_F(JournalTest, APageReadAheadForAConsumerThatStallsIsNotKeptForIt) {
  std::string expected = append_log(3 * kFeedReadEvents);
  PageReader reader(workers_);
  reader.stall_after = 2;
  open(reader, {.task = "t"});
  EXPECT_EQ(reader.ahead.size(), 2u);
  std::string before = reader.text;
  reader.feed->next();
  EXPECT_EQ(reader.text, before) << "the page was kept";
  EXPECT_EQ(workers_.pending(), 1u);
  turn();
  EXPECT_EQ(reader.text, expected);
}

TEST_F(JournalTest, DeletingATaskEndsItsFeeds) {
  Reader reader;
  open(reader, {.task = "t"});
  journal_.delete_task("t", [](Result<void> deleted) { EXPECT_TRUE(deleted.has_value()); });
  turn();
  EXPECT_EQ(reader.reason, "task_deleted");
}

// The log of all tasks has its own tail, which serves consumers that return with a cursor.
TEST_F(JournalTest, NobodyReadsADeletedTaskFromATail) {
  Reader watching, later;
  open(watching, {.task = ""});
  make_task("other");
  post(log_json("a"));
  post(log_json("b"), {}, "other");
  journal_.delete_task("t", [](Result<void> deleted) { EXPECT_TRUE(deleted.has_value()); });
  turn();
  open(later, {.task = ""});
  EXPECT_EQ(later.text, "gap1-1 e2 caught_up2 ");
  post(log_json("c"), {}, "other");
  EXPECT_EQ(watching.text, "caught_up0 e1 e2 e3 ");
}

TEST_F(JournalTest, NobodyReadsDroppedEventsFromATail) {
  Reader one, all, later_one, later_all;
  open(one, {.task = "t"});
  open(all, {.task = ""});
  for (const char* summary : {"a", "b", "c"}) post(log_json(summary));
  journal_.drop({{"t", 2}, {"unknown", 1}}, [](Result<void> dropped) { EXPECT_TRUE(dropped.has_value()); });
  turn();
  open(later_one, {.task = "t"});
  EXPECT_EQ(later_one.text, "gap1-2 e3 caught_up3 ");
  open(later_all, {.task = ""});
  EXPECT_EQ(later_all.text.find("e1 "), std::string::npos) << later_all.text;
  EXPECT_NE(later_all.text.find("e3 "), std::string::npos) << later_all.text;
}

TEST_F(JournalTest, TwoPatchesInOneCommitBothHold) {
  int done = 0;
  for (const char* label : {"a", "b"}) {
    journal_.update_task(
        "t",
        [label](TaskSpec& spec) -> Result<void> {
          spec.labels[label] = "1";
          return {};
        },
        [&](Result<Task> task) { done += task.has_value() ? 1 : 0; });
  }
  turn();
  EXPECT_EQ(done, 2);
  EXPECT_EQ(store_.task("t")->spec.labels.size(), 2U);
}

// --- fire-and-forget producers ---

const Producer kLoose{ProducerKind::loose, ""};

TEST_F(JournalTest, EarlyNumbersWaitForTheirPredecessors) {
  Result<Appended> third, first, second;
  start_post(log_json("three", 3), kLoose, "t", third);
  turn();
  start_post(log_json("one", 1), kLoose, "t", first);
  turn();
  EXPECT_TRUE(first.has_value());
  EXPECT_EQ(summaries(), std::vector<std::string>{"one"});
  start_post(log_json("two", 2), kLoose, "t", second);
  turn();
  EXPECT_EQ(summaries(), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(third->last_sequence, 3U);
}

TEST_F(JournalTest, WhatWaitsGoesBeforeTheEndOfItsTask) {
  Result<Appended> first, third, end;
  start_post(log_json("one", 1), kLoose, "t", first);
  start_post(log_json("three", 3), kLoose, "t", third);
  turn();
  EXPECT_EQ(summaries(), std::vector<std::string>{"one"});
  start_post(R"({"type":"status","summary":"end","data":{"state":"completed"}})", {}, "t", end);
  turn();
  EXPECT_EQ(summaries(), std::vector<std::string>{"one"}) << "two may still come";
  clock_.advance_ms(kReorderWait.count());
  journal_.tick();
  turn();
  EXPECT_TRUE(end.has_value());
  EXPECT_TRUE(third.has_value());
  EXPECT_EQ(summaries(), (std::vector<std::string>{"one", "Producer numbers 2 have not arrived", "three", "end"}));
}

TEST_F(JournalTest, ALooseBatchIsPutInOrder) {
  post("[" + log_json("two", 2) + "," + log_json("with two") + "," + log_json("one", 1) + "]", kLoose);
  EXPECT_EQ(summaries(), (std::vector<std::string>{"one", "two", "with two"}));
}

TEST_F(JournalTest, AnEventWithoutANumberDoesNotHurryItsBatch) {
  Result<Appended> early;
  start_post("[" + log_json("three", 3) + "," + log_json("with three") + "]", kLoose, "t", early);
  turn();
  EXPECT_TRUE(summaries().empty());
  post("[" + log_json("one", 1) + "," + log_json("two", 2) + "]", kLoose);
  EXPECT_EQ(summaries(), (std::vector<std::string>{"one", "two", "three", "with three"}));
}

TEST_F(JournalTest, AfterTwoSecondsTheMissingNumbersAreNamed) {
  Result<Appended> late;
  start_post(log_json("three", 3), kLoose, "t", late);
  turn();
  EXPECT_TRUE(summaries().empty());
  clock_.advance_ms(kReorderWait.count());
  journal_.tick();
  turn();
  EXPECT_EQ(summaries(), (std::vector<std::string>{"Producer numbers 1-2 have not arrived", "three"}));
  post(log_json("one", 1), kLoose);
  EXPECT_EQ(summaries().back(), "one") << "late is better than lost";
  post(log_json("one", 1), kLoose);
  EXPECT_EQ(summaries().size(), 3U) << "a repeat is harmless";
}

// The intake stamps an event without a timestamp with its arrival, which differs for a repeat.
TEST_F(JournalTest, ARepeatWithoutTimestampIsStillARepeat) {
  for (Producer producer : {kLoose, Producer{ProducerKind::strict, "spool"}}) {
    std::size_t before = summaries().size();
    ASSERT_TRUE(post(log_json("one", 1), producer).has_value());
    clock_.advance_ms(5);
    auto again = post(log_json("one", 1), producer);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_EQ(summaries().size(), before + 1);
  }
}

TEST_F(JournalTest, NoMoreThanABoundedNumberWaits) {
  std::vector<Result<Appended>> answers(kReorderEvents + 1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    start_post(log_json("x", static_cast<int>(i) + 2), kLoose, "t", answers[i]);
  }
  turn();
  EXPECT_EQ(summaries().size(), answers.size() + 1);
  EXPECT_EQ(summaries().front(), "Producer numbers 1 have not arrived");
}

TEST_F(JournalTest, AnUnknownTaskIsToldAtOnce) {
  auto answer = post(log_json("x", 5), kLoose, "nobody");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().reason, "unknown_task");
}

TEST_F(JournalTest, AFailedCommitAcknowledgesNothing) {
  Fault fault = Fault::none;
  MemoryStore store([&] { return fault; });
  Hub hub(clock_, metrics_);
  Journal journal(store, hub, bus_, workers_, clock_, metrics_, false);
  TaskSpec spec;
  spec.id = "t";
  journal.create_task(spec, "", [](Result<Created>) {});
  journal.step();
  fault = Fault::fail_before_commit;
  Result<Appended> answer;
  journal.append({"t", {}, *decode_events(log_json("x"), Framing::json, Intake{}), 1, false},
                 [&](Result<Appended> appended) { answer = std::move(appended); });
  journal.step();
  ASSERT_FALSE(answer.has_value());
  EXPECT_TRUE(retryable(answer.error().code));
  fault = Fault::none;
  EXPECT_EQ(store.read("t", 0, {10, 1000})->head, 0U);
}

TEST_F(JournalTest, ACommitWhoseAnswerWasLostReachesWatchersAllTheSame) {
  Fault fault = Fault::none;
  MemoryStore store([&] { return fault; });
  Hub hub(clock_, metrics_);
  Journal journal(store, hub, bus_, workers_, clock_, metrics_, false);
  TaskSpec spec;
  spec.id = "t";
  journal.create_task(spec, "", [](Result<Created>) {});
  journal.step();
  Reader reader;
  FeedOptions options{.task = "t"};
  options.executor = &io_;
  options.encoder = &frames_;
  reader.feed = journal.open_feed(options, reader);
  reader.feed->next();
  turn();
  fault = Fault::fail_after_commit;
  journal.append({"t", {}, *decode_events(log_json("x"), Framing::json, Intake{}), 1, false}, [](Result<Appended>) {});
  journal.step();
  fault = Fault::none;
  journal.tick();
  turn();
  EXPECT_EQ(reader.text, "caught_up0 e1 ");
}

// Brings the hints of another process.
class HintBus final : public Bus {
 public:
  void publish(const Hint&) override {}
  Subscription subscribe(std::function<void(const Hint&)> handler) override {
    handler_ = std::move(handler);
    return Subscription([this] { handler_ = nullptr; });
  }
  bool connects_replicas() const override { return true; }
  void deliver(const Hint& hint) { handler_(hint); }
  bool has_subscriber() const { return handler_ != nullptr; }

 private:
  std::function<void(const Hint&)> handler_;
};

class CountedReads final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const override {
    ++count;
    return ForwardingStore::read(task, after, limit);
  }
  mutable int count = 0;
};

TEST_F(JournalTest, ManyHintsOfALogCostOneRead) {
  HintBus bus;
  CountedReads store(store_);
  Hub hub(clock_, metrics_);
  auto journal = std::make_unique<Journal>(store, hub, bus, workers_, clock_, metrics_, false);
  auto run = [&] {
    while (journal->step() || workers_.run_one() || io_.run_one()) {
    }
  };
  auto write = [&](EventStore& into) {
    ASSERT_TRUE(into.write([&](WriteTxn& txn) {
      ASSERT_TRUE(txn.append({"t", {}, *decode_events(log_json("x"), Framing::json, Intake{}), 1}));
    }));
  };
  journal->append({"t", {}, *decode_events(log_json("x"), Framing::json, Intake{}), 1}, [](Result<Appended>) {});
  run();
  Reader reader;
  FeedOptions options{.task = "t"};
  options.executor = &io_;
  options.encoder = &frames_;
  reader.feed = journal->open_feed(options, reader);
  reader.feed->next();
  run();
  ASSERT_EQ(reader.text, "e1 caught_up1 ");
  int before = store.count;
  for (std::uint64_t last = 2; last <= 6; ++last) {
    write(store_);
    Place newest = *store_.newest_place();
    bus.deliver({"t", last, newest.position, newest.change});
  }
  run();
  EXPECT_EQ(reader.text, "e1 caught_up1 e2 e3 e4 e5 e6 ");
  EXPECT_EQ(store.count - before, 1);
  bus.deliver({"t", 99, 0, 0});  // of a log that had more before it was deleted
  run();
  EXPECT_EQ(store.count - before, 2) << "a wrong hint costs one read";
  write(store_);
  bus.deliver({"t", 100, 0, 0});
  run();
  EXPECT_EQ(reader.text, "e1 caught_up1 e2 e3 e4 e5 e6 e7 ");
  reader.feed.reset();
  run();
  journal.reset();
  EXPECT_FALSE(bus.has_subscriber()) << "a hint that comes later finds no journal";
}

}  // namespace
}  // namespace shepherd
