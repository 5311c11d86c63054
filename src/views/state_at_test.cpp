#include "views/state_at.h"

#include "base/random.h"
#include "model/task_fold.h"
#include "model/wire_json.h"
#include "store/batch_fold.h"
#include "store/limits.h"
#include "store/memory/forwarding_store.h"
#include "store/memory/test_log.h"

namespace shepherd {
namespace {

Result<TaskAt> task_at(const EventStore& store, const std::string& task, std::uint64_t sequence) {
  StateScan scan(store, task, sequence);
  for (;;) {
    auto done = scan.step();
    if (!done) return fail(done.error());
    if (*done) return scan.found();
  }
}

std::string text_of(const Result<TaskAt>& at) {
  if (!at) return at.error().reason;
  return encode_task_state(at->task.state) + (at->whole ? "" : " without its beginning");
}

class StateAtTest : public testing::Test {
 protected:
  void SetUp() override { log_.make_task("t"); }

  void add(const std::string& type, const std::string& more = "") {
    auto drafts = decode_events(R"({"type":")" + type + R"(","summary":")" + type + "\"" + more + "}", Framing::json,
                                Intake{.allow_reserved = true});
    ASSERT_TRUE(drafts) << drafts.error().message;
    log_.append("t", std::move(*drafts));
  }
  void add_checkpoint(Checkpoint checkpoint) {
    std::int64_t created_ms = log_.store.task("t")->created_ms;
    log_.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.add_checkpoint("t", created_ms, checkpoint)); });
  }
  // Appends many events in few commits.
  void add_many(std::size_t count) {
    for (std::size_t part = 0; count > 0; count -= part) {
      part = std::min<std::size_t>(count, 1'000);
      log_.append("t", log_drafts(std::vector<std::string>(part, "line"), EventType::tool_call));
    }
  }
  void add_random(SeededRandom& random) {
    std::string n = std::to_string(random.below(1000));
    switch (random.below(6)) {
      case 0:
        return add("usage", R"(,"sessionID":"s)" + std::to_string(random.below(3)) + R"(","data":{"costUSD":0.)" + n +
                                R"(,"inputTokens":)" + n + "}");
      case 1:
        return add("error", R"(,"data":{"message":"e)" + n + R"("})");
      case 2:
        return add("status", R"(,"data":{"state":"running","message":"m)" + n + R"("})");
      case 3:
        return add("approval", R"(,"data":{"id":"a)" + n + R"(","state":"pending","tool":"Bash"})");
      case 4:
        return add("session_start", R"(,"sessionID":"s)" + n + R"(","data":{"model":"m)" + n + R"("})");
      default:
        return add("tool_call", R"(,"data":{"tool":"Bash"})");
    }
  }

  TestLog log_;
};

// The states after every event, each folded from the log's beginning.
std::vector<TaskState> all_states(const EventStore& store, const std::string& task) {
  std::vector<TaskState> states(1);
  for (TaskState state; state.last_sequence < store.task(task)->state.last_sequence;) {
    auto page = store.read(task, state.last_sequence, {});
    for (const BatchPtr& batch : page->batches) {
      for (std::uint64_t n = batch->first; n <= batch->last(); ++n) {
        EXPECT_TRUE(fold_batch(state, *batch, n));
        states.push_back(state);
      }
    }
  }
  return states;
}

TEST_F(StateAtTest, IsTheFoldUpToTheEvent) {
  add("session_start", R"(,"sessionID":"s1","data":{"model":"m"})");
  add("usage", R"(,"sessionID":"s1","data":{"costUSD":0.5})");
  add("usage", R"(,"sessionID":"s1","data":{"costUSD":0.75})");
  add("status", R"(,"data":{"state":"completed"})");
  auto created = task_at(log_.store, "t", 0);
  ASSERT_TRUE(created);
  EXPECT_EQ(created->task.state.state, State::queued);
  auto second = task_at(log_.store, "t", 2);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->task.state.state, State::running);
  EXPECT_EQ(second->task.state.usage.cost_usd, 0.5);
  EXPECT_EQ(second->task.state.last_sequence, 2U);
  EXPECT_TRUE(second->whole);
  EXPECT_EQ(text_of(task_at(log_.store, "t", 4)), encode_task_state(log_.store.task("t")->state));
  EXPECT_EQ(text_of(task_at(log_.store, "t", 5)), "cursor_ahead");
  EXPECT_EQ(text_of(task_at(log_.store, "nobody", 1)), "unknown_task");

  log_.drop("t", 2);
  EXPECT_EQ(text_of(task_at(log_.store, "t", 2)), "event_dropped");
  auto rest = task_at(log_.store, "t", 3);
  ASSERT_TRUE(rest);
  EXPECT_FALSE(rest->whole);
  EXPECT_EQ(rest->task.state.usage.cost_usd, 0.75);
  auto last = task_at(log_.store, "t", 4);
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->whole) << "the store has the state after the last event, whatever was dropped";
}

TEST_F(StateAtTest, ALogWithoutEventsHasOnlyItsLastState) {
  for (int i = 0; i < 3; ++i) add("tool_call");
  log_.drop("t", 3);
  EXPECT_EQ(text_of(task_at(log_.store, "t", 2)), "event_dropped");
  EXPECT_EQ(task_at(log_.store, "t", 3)->task.state.tool_calls, 3U);
}

TEST_F(StateAtTest, WhatTheServerSaidIsFoldedAsTheServers) {
  add("thinking");
  auto drafts =
      decode_events(R"({"type":"status","summary":"lost","data":{"state":"failed"}})", Framing::json, Intake{});
  ASSERT_TRUE(drafts);
  log_.write([&](WriteTxn& txn) {
    ASSERT_TRUE(txn.append({"t", {}, std::move(*drafts), log_.clock.wall_ms(), true}).has_value());
  });
  add("log");  // so that the state after the second event is not the newest
  auto at_end = task_at(log_.store, "t", 2);
  ASSERT_TRUE(at_end);
  EXPECT_TRUE(at_end->task.state.inferred_end);
}

TEST_F(StateAtTest, EqualsTheFoldAtEveryNumberOfRandomLogs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    log_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("t")); });
    log_.make_task("t");
    for (int i = 0; i < 120; ++i) add_random(random);
    std::vector<TaskState> states = all_states(log_.store, "t");
    for (std::uint64_t n = 1 + random.below(20); n < states.size(); n += 1 + random.below(40)) {
      add_checkpoint({states[n]});
    }
    auto compare = [&](std::uint64_t first) {
      for (std::uint64_t n = first; n < states.size(); ++n) {
        auto at = task_at(log_.store, "t", n);
        ASSERT_TRUE(at) << n;
        auto checkpoint = *log_.store.checkpoint("t", n);
        EXPECT_EQ(at->whole, first == 1 || checkpoint || n + 1 == states.size()) << n;
        if (!at->whole) continue;
        TaskState expected = states[n];
        expected.first_sequence = first;
        ASSERT_EQ(text_of(at), encode_task_state(expected)) << n;
      }
    };
    compare(1);
    std::uint64_t dropped = 1 + random.below(100);
    log_.drop("t", dropped);
    EXPECT_EQ(text_of(task_at(log_.store, "t", dropped)), "event_dropped");
    compare(dropped + 1);
    if (HasFailure()) return;
  }
}

TEST_F(StateAtTest, ReadsNoMoreThanFromTheLastCheckpoint) {
  add_many(5 * kCheckpointEvents);
  std::vector<TaskState> states = all_states(log_.store, "t");
  for (std::uint64_t n : {kCheckpointEvents - 1, 2 * kCheckpointEvents + 5, 5 * kCheckpointEvents - 1}) {
    StateScan scan(log_.store, "t", n);
    for (Result<bool> done = false; !*done;) {
      done = scan.step();
      ASSERT_TRUE(done);
      EXPECT_FALSE(scan.take_missing()) << "the store has them";
    }
    EXPECT_EQ(encode_task_state(scan.found().task.state), encode_task_state(states[n]));
    EXPECT_LT(scan.events_read(), kCheckpointEvents + 1'000)
        << "a commit of 1,000 events has its checkpoint at its end";
  }
}

// A log as an earlier program wrote it.
class WithoutCheckpoints final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  bool hidden = true;

  Result<std::optional<Checkpoint>> checkpoint(const std::string& task, std::uint64_t at) const override {
    if (hidden) return std::nullopt;
    return inner().checkpoint(task, at);
  }
};

TEST_F(StateAtTest, LeavesCheckpointsBehindWhereThereAreNone) {
  add_many(3 * kCheckpointEvents + 10);
  std::vector<TaskState> states = all_states(log_.store, "t");
  WithoutCheckpoints old(log_.store);
  StateScan scan(old, "t", 3 * kCheckpointEvents + 5);
  std::vector<std::uint64_t> places;
  for (Result<bool> done = false; !*done;) {
    done = scan.step();
    ASSERT_TRUE(done);
    auto missing = scan.take_missing();
    if (!missing) continue;
    places.push_back(missing->state.last_sequence);
    EXPECT_EQ(encode_task_state(missing->state), encode_task_state(states[places.back()]));
    add_checkpoint(*missing);
  }
  EXPECT_EQ(places, (std::vector{kCheckpointEvents, 2 * kCheckpointEvents, 3 * kCheckpointEvents}));
  EXPECT_EQ(scan.events_read(), 3 * kCheckpointEvents + 5);

  // Another scan that began before them goes on from the newest one.
  StateScan other(old, "t", 3 * kCheckpointEvents + 5);
  Result<bool> done = false;
  while (!other.take_missing()) {
    done = other.step();
    ASSERT_TRUE(done);
  }
  old.hidden = false;
  while (!*done) {
    done = other.step();
    ASSERT_TRUE(done);
  }
  EXPECT_EQ(other.events_read(), kCheckpointEvents + 5);
  EXPECT_EQ(encode_task_state(other.found().task.state), encode_task_state(states[3 * kCheckpointEvents + 5]));
}

TEST_F(StateAtTest, EventsDroppedDuringTheScanBeginItAgain) {
  add_many(2 * kCheckpointEvents);
  WithoutCheckpoints old(log_.store);
  StateScan scan(old, "t", 2 * kCheckpointEvents - 1);
  ASSERT_FALSE(*scan.step());
  log_.drop("t", 3'000);
  for (Result<bool> done = false; !*done;) {
    done = scan.step();
    ASSERT_TRUE(done);
  }
  EXPECT_FALSE(scan.found().whole);
  EXPECT_EQ(scan.found().task.state.first_sequence, 3'001U);
  EXPECT_EQ(scan.found().task.state.tool_calls, 2 * kCheckpointEvents - 1 - 3'000);
}

}  // namespace
}  // namespace shepherd
