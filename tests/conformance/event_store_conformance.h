// What every EventStore does, as tests. An implementation instantiates the suite with a StoreMaker:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, EventStoreConformance, ::testing::Values(memory_maker()), maker_name);
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/limits.h"
#include "conformance/store_fixture.h"

namespace shepherd::testing {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

inline std::string maker_name(const ::testing::TestParamInfo<StoreMaker>& info) {
  return info.param.name;
}

class EventStoreConformance : public ::testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override { made_ = GetParam().make(); }
  EventStore& store() { return *made_.store; }
  // Where the store is durable, what follows also holds after closing and opening it.
  void reopen() {
    if (made_.reopen) made_.reopen(made_);
  }
  void make_task(const std::string& id) { ASSERT_TRUE(create(store(), spec(id))); }

  StoreUnderTest made_;
};

// --- numbering ---

TEST_P(EventStoreConformance, NumbersEventsFromOneWithoutHoles) {
  make_task("t");
  auto first = append(store(), "t", Batch().log("a").log("b"));
  auto second = append(store(), "t", Batch().log("c"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->last_sequence, 2u);
  EXPECT_EQ(second->last_sequence, 3u);
  EXPECT_EQ(second->added, 1u);
  reopen();
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b", "c"));
  EXPECT_EQ(append(store(), "t", Batch().log("d"))->last_sequence, 4u);
}

TEST_P(EventStoreConformance, CommitHandsOutItsRunsInOrder) {
  make_task("a");
  make_task("b");
  auto commit = store().write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("a", Batch().log("1"))));
    ASSERT_TRUE(txn.append(request("b", Batch().log("2"))));
    ASSERT_TRUE(txn.append(request("a", Batch().log("3"))));
  });
  ASSERT_TRUE(commit);
  std::uint64_t position = 0, events = 0;
  for (const RunPtr& run : commit->runs) {
    EXPECT_EQ(run->position, position + 1);
    position = run->last_position();
    events += run->size();
    EXPECT_EQ(run->received_ms, kNow);
  }
  EXPECT_EQ(events, 3u);
  EXPECT_EQ(store().heads({""})->at(""), 3u);
}

TEST_P(EventStoreConformance, PositionsCountOnOverTasksAndDeletions) {
  make_task("a");
  make_task("b");
  ASSERT_TRUE(append(store(), "a", Batch().log("1").log("2")));
  ASSERT_TRUE(append(store(), "b", Batch().log("3")));
  ASSERT_TRUE(erase(store(), "b"));
  reopen();
  EXPECT_EQ(store().heads({""})->at(""), 3u);
  ASSERT_TRUE(append(store(), "a", Batch().log("4")));
  auto page = store().read_all(2, {});
  ASSERT_TRUE(page);
  ASSERT_THAT(page->runs, SizeIs(1));
  EXPECT_EQ(page->runs[0]->position, 4u);
  EXPECT_EQ(page->head, 4u);
}

TEST_P(EventStoreConformance, LargeBatchesAreSplitIntoRuns) {
  make_task("t");
  Batch batch;
  std::string long_text(1000, 'x');
  for (std::size_t i = 0; i < 2 * kMaxRunEvents; ++i) batch.log(long_text);
  auto commit = store().write([&](WriteTxn& txn) { ASSERT_TRUE(txn.append(request("t", batch))); });
  ASSERT_TRUE(commit);
  EXPECT_GT(commit->runs.size(), 2u);
  for (const RunPtr& run : commit->runs) {
    EXPECT_LE(run->size(), kMaxRunEvents);
    EXPECT_LE(run->bytes.size(), kMaxRunBytes);
  }
  EXPECT_THAT(log_of(store(), "t"), SizeIs(2 * kMaxRunEvents));
}

// --- all or nothing ---

TEST_P(EventStoreConformance, RefusedAppendChangesNothingAndSpoilsNothing) {
  make_task("t");
  std::string refused;
  auto commit = store().write([&](WriteTxn& txn) {
    EXPECT_TRUE(txn.append(request("t", Batch().log("before"))));
    refused = reason(txn.append(request("t", Batch().log("one", 1).log("three", 3), strict("p"))));
    EXPECT_EQ(reason(txn.append(request("nobody", Batch().log("x")))), "not_found/unknown_task");
    EXPECT_TRUE(txn.append(request("t", Batch().log("after"))));
  });
  ASSERT_TRUE(commit);
  EXPECT_EQ(refused, "conflict/sequence_hole");
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("before", "after"));
}

TEST_P(EventStoreConformance, AnExceptionRollsEverythingBack) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("kept", 1).id("x"), strict("p")));
  auto doomed = [&] {
    (void)store().write([](WriteTxn& txn) {
      (void)txn.create_task(spec("new"), kNow, "key");
      (void)txn.append(request("new", Batch().log("lost")));
      (void)txn.append(request("t", Batch().log("lost", 2).status("completed", 3), strict("p")));
      (void)txn.append(request("t", Batch().log("lost").id("lost").detail("{\"raw\":1}")));
      (void)txn.drop_through("t", 1);
      (void)txn.put_record("token", "a", "1");
      throw std::runtime_error("the caller's own trouble");
    });
  };
  EXPECT_THROW(doomed(), std::runtime_error);
  EXPECT_EQ(reason(store().task("new")), "not_found/unknown_task");
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("kept"));
  EXPECT_THAT(*store().records("token"), IsEmpty());
  EXPECT_EQ(store().task("t")->state.state, State::running);
  EXPECT_EQ(store().read("t", 0, {})->first, 1u);
  // The numbers of the lost transaction are free again.
  auto again = append(store(), "t", Batch().log("second", 2), strict("p"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->last_sequence, 2u);
  EXPECT_EQ(store().heads({""})->at(""), 2u);
  reopen();
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("kept", "second"));
  EXPECT_TRUE(create(store(), spec("new"), kNow, "key") &&
              !create(store(), spec("new"), kNow, "key")->task.spec.id.empty());
}

TEST_P(EventStoreConformance, ADeletionThatIsRolledBackLeavesTheLog) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1), strict("p")));
  auto doomed = [&] {
    (void)store().write([](WriteTxn& txn) {
      ASSERT_TRUE(txn.delete_task("t"));
      ASSERT_TRUE(txn.create_task(spec("t"), kNow + 1, ""));
      ASSERT_TRUE(txn.append(request("t", Batch().log("other"))));
      throw std::runtime_error("no");
    });
  };
  EXPECT_THROW(doomed(), std::runtime_error);
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a"));
  auto next = append(store(), "t", Batch().log("b", 2), strict("p"));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->last_sequence, 2u);
}

// --- producers ---

TEST_P(EventStoreConformance, StrictRepeatsAreHarmless) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1).log("b", 2), strict("p")));
  reopen();
  auto again = append(store(), "t", Batch().log("a", 1).log("b", 2).log("c", 3), strict("p"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->added, 1u);
  EXPECT_EQ(again->last_sequence, 3u);
  EXPECT_EQ(again->producer_sequence, 3u);
  auto nothing_new = append(store(), "t", Batch().log("b", 2), strict("p"));
  ASSERT_TRUE(nothing_new);
  EXPECT_EQ(nothing_new->added, 0u);
  EXPECT_EQ(nothing_new->producer_sequence, 3u);
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(log_of(store(), "t").front(), HasSubstr("\"producer\":\"p\""));
}

TEST_P(EventStoreConformance, StrictHolesAreNamed) {
  make_task("t");
  auto early = append(store(), "t", Batch().log("b", 2), strict("p"));
  ASSERT_FALSE(early);
  EXPECT_EQ(reason(early), "conflict/sequence_hole");
  EXPECT_EQ(field(early.error(), "expectedSequence"), "1");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1).log("b", 2), strict("p")));
  auto hole = append(store(), "t", Batch().log("c", 3).log("e", 5), strict("p"));
  ASSERT_FALSE(hole);
  EXPECT_EQ(field(hole.error(), "expectedSequence"), "3") << "nothing of the batch was taken";
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b"));
}

TEST_P(EventStoreConformance, StrictNumbersMayNotChangeTheirContent) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1).log("b", 2), strict("p")));
  reopen();
  auto reused = append(store(), "t", Batch().log("a", 1).log("other", 2), strict("p"));
  EXPECT_EQ(reason(reused), "conflict/sequence_reused");
  EXPECT_EQ(field(reused.error(), "index"), "1");
  EXPECT_EQ(reason(append(store(), "t", Batch().log("x", 3).log("y", 3), strict("p"))), "conflict/sequence_reused");
  EXPECT_EQ(reason(append(store(), "t", Batch().log("x", 3).log("x", 3), strict("p"))), "ok");
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b", "x"));
}

TEST_P(EventStoreConformance, StrictProducersHaveTheirOwnNumbers) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("p1", 1), strict("p")));
  ASSERT_TRUE(append(store(), "t", Batch().log("q1", 1), strict("q")));
  ASSERT_TRUE(append(store(), "t", Batch().log("loose1", 1), loose()));
  ASSERT_TRUE(append(store(), "t", Batch().log("p2", 2), strict("p")));
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("p1", "q1", "loose1", "p2"));
}

TEST_P(EventStoreConformance, OldStrictNumbersAreFoundAmongOthers) {
  make_task("t");
  std::uint64_t p = 0, q = 0;
  for (int i = 0; i < 40; ++i) {
    Batch batch;
    for (int k = 0; k <= i % 3; ++k, ++p) batch.log("p" + std::to_string(p + 1), p + 1);
    ASSERT_TRUE(append(store(), "t", batch, strict("p")));
    if (i % 4 == 0) {
      ASSERT_TRUE(append(store(), "t", Batch().log("hook")));
    }
    if (i % 5 == 0) {
      ++q;
      ASSERT_TRUE(append(store(), "t", Batch().log("q" + std::to_string(q), q), strict("q")));
    }
  }
  reopen();
  for (std::uint64_t n = 1; n <= p; ++n) {
    auto repeat = append(store(), "t", Batch().log("p" + std::to_string(n), n), strict("p"));
    ASSERT_TRUE(repeat) << n << ": " << repeat.error().message;
    EXPECT_EQ(repeat->added, 0u) << n;
    EXPECT_EQ(reason(append(store(), "t", Batch().log("other", n), strict("p"))), "conflict/sequence_reused") << n;
  }
  Batch everything;
  for (std::uint64_t n = 1; n <= q; ++n) everything.log("q" + std::to_string(n), n);
  EXPECT_EQ(append(store(), "t", everything, strict("q"))->added, 0u);
}

TEST_P(EventStoreConformance, StrictDraftsNeedNumbersAndAnId) {
  make_task("t");
  EXPECT_EQ(reason(append(store(), "t", Batch().log("a"), strict("p"))), "invalid_argument/sequence_required");
  EXPECT_EQ(reason(append(store(), "t", Batch().log("a", 1), strict(""))), "invalid_argument/producer_required");
  EXPECT_EQ(reason(append(store(), "t", Batch().log("a", UINT64_MAX), loose())),
            "invalid_argument/sequence_out_of_range");
}

TEST_P(EventStoreConformance, RepeatsWithinOneTransactionAreFound) {
  make_task("t");
  auto commit = store().write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("t", Batch().log("a", 1), strict("p"))));
    auto again = txn.append(request("t", Batch().log("a", 1).log("b", 2), strict("p")));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->added, 1u);
    EXPECT_EQ(reason(txn.append(request("t", Batch().log("not b", 2), strict("p")))), "conflict/sequence_reused");
    ASSERT_TRUE(txn.append(request("t", Batch().log("hook").id("h"))));
    EXPECT_EQ(txn.append(request("t", Batch().log("hook").id("h")))->added, 0u);
  });
  ASSERT_TRUE(commit);
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b", "hook"));
}

TEST_P(EventStoreConformance, LooseNumbersComeAsTheyCome) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("five", 5), loose()));
  auto late = append(store(), "t", Batch().log("two", 2).log("three", 3), loose());
  ASSERT_TRUE(late);
  EXPECT_EQ(late->added, 2u);
  EXPECT_EQ(late->producer_sequence, 5u);
  reopen();
  EXPECT_EQ(append(store(), "t", Batch().log("two", 2).log("five", 5), loose())->added, 0u);
  EXPECT_EQ(append(store(), "t", Batch().log("one", 1), loose())->added, 1u);
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("five", "two", "three", "one"));
}

TEST_P(EventStoreConformance, LooseNumbersWithOtherContentAreKeptAllTheSame) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1), loose()));
  auto other = append(store(), "t", Batch().log("restarted", 1), loose());
  ASSERT_TRUE(other);
  EXPECT_EQ(other->added, 1u);
  EXPECT_EQ(append(store(), "t", Batch().log("a", 1), loose())->added, 0u);
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "restarted"));
}

TEST_P(EventStoreConformance, LooseHolesBeyondTheBoundLoseNothing) {
  make_task("t");
  Batch odd;
  for (std::uint64_t n = 1; n <= kMaxLooseHoles + 100; ++n) odd.log("n", 2 * n);
  ASSERT_TRUE(append(store(), "t", odd, loose()));
  EXPECT_EQ(append(store(), "t", Batch().log("forgotten hole", 1), loose())->added, 1u);
  EXPECT_EQ(append(store(), "t", Batch().log("forgotten hole", 1), loose())->added, 0u);
  EXPECT_EQ(append(store(), "t", odd, loose())->added, 0u);
}

TEST_P(EventStoreConformance, EventIdsDeduplicate) {
  make_task("t");
  make_task("u");
  ASSERT_TRUE(append(store(), "t", Batch().log("a").id("x").log("again").id("x").log("b").id("y")));
  reopen();
  auto again = append(store(), "t", Batch().log("a").id("x").log("c").id("z"));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->added, 1u);
  EXPECT_EQ(append(store(), "u", Batch().log("a").id("x"))->added, 1u) << "ids belong to their task";
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b", "c"));
}

// --- ends ---

TEST_P(EventStoreConformance, AfterAnOwnEndNothingNewEnters) {
  make_task("t");
  auto commit = store().write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("t", Batch().log("a", 1).status("completed", 2), strict("p"))));
  });
  ASSERT_TRUE(commit);
  EXPECT_THAT(commit->runs.back()->complete, HasSubstr("\"lastSequence\":2"));
  reopen();
  auto gone = append(store(), "t", Batch().log("b", 3), strict("p"));
  EXPECT_EQ(reason(gone), "gone/task_ended");
  EXPECT_EQ(field(gone.error(), "currentState"), "completed");
  EXPECT_EQ(reason(append(store(), "t", Batch().log("x"))), "gone/task_ended");
  EXPECT_EQ(append(store(), "t", Batch().log("a", 1).status("completed", 2), strict("p"))->added, 0u);
  auto page = store().read("t", 0, {});
  EXPECT_THAT(page->complete, HasSubstr("\"lastSequence\":2"));
  EXPECT_EQ(store().task("t")->state.state, State::completed);
}

TEST_P(EventStoreConformance, NothingFollowsAnEndInItsOwnBatch) {
  make_task("t");
  auto refused = append(store(), "t", Batch().status("failed").log("after"));
  EXPECT_EQ(reason(refused), "gone/task_ended");
  EXPECT_EQ(field(refused.error(), "currentState"), "failed");
  EXPECT_EQ(field(refused.error(), "index"), "1");
  EXPECT_THAT(summaries(store(), "t"), IsEmpty());
  EXPECT_EQ(reason(append(store(), "t", Batch().log("a", 1).status("failed", 2).log("a", 1), strict("p"))), "ok");
}

TEST_P(EventStoreConformance, AfterAnInferredEndEventsAreLate) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1), strict("p")));
  auto inferred = request("t", Batch().status("failed"));
  inferred.by_server = true;
  ASSERT_TRUE(append(store(), inferred));
  reopen();
  Result<Appended> late = fail(ErrorCode::internal, "", "");
  auto commit = store().write([&](WriteTxn& txn) {
    late = txn.append(request("t", Batch().log("b", 2).status("completed", 3).log("c", 4), strict("p")));
  });
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->added, 3u);
  EXPECT_THAT(commit->runs.back()->complete, HasSubstr("\"lastSequence\":5"));
  auto events = log_of(store(), "t");
  EXPECT_THAT(events.at(2), HasSubstr("\"late\":true"));
  EXPECT_THAT(events.at(0), ::testing::Not(HasSubstr("\"late\"")));
  auto task = store().task("t");
  EXPECT_EQ(task->state.state, State::failed);
  EXPECT_TRUE(task->state.inferred_end);
  EXPECT_EQ(task->state.last_sequence, 5u);
}

// --- tasks ---

TEST_P(EventStoreConformance, CreatingTwiceIsTheSameTask) {
  auto first = create(store(), spec("t"), kNow, "key-1");
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->existed);
  EXPECT_EQ(first->task.state.state, State::queued);
  ASSERT_TRUE(append(store(), "t", Batch().log("a")));
  reopen();
  auto same_id = create(store(), spec("t"), kNow + 5);
  ASSERT_TRUE(same_id);
  EXPECT_TRUE(same_id->existed);
  EXPECT_EQ(same_id->task.created_ms, kNow);
  EXPECT_EQ(same_id->task.state.last_sequence, 1u);
  auto same_key = create(store(), spec("another-generated-id"), kNow + 5, "key-1");
  ASSERT_TRUE(same_key);
  EXPECT_TRUE(same_key->existed);
  EXPECT_EQ(same_key->task.spec.id, "t");

  TaskSpec other = spec("t");
  other.description = "Something else";
  EXPECT_EQ(reason(create(store(), other)), "conflict/task_exists");
  other.id = "u";
  EXPECT_EQ(reason(create(store(), other, kNow, "key-1")), "conflict/idempotency_key_reused");
  EXPECT_EQ(reason(store().task("u")), "not_found/unknown_task");
}

TEST_P(EventStoreConformance, TransactionsSeeTheirOwnTasks) {
  auto commit = store().write([](WriteTxn& txn) {
    EXPECT_EQ(reason(txn.task("t")), "not_found/unknown_task");
    ASSERT_TRUE(txn.create_task(spec("t"), kNow, "k"));
    EXPECT_TRUE(txn.create_task(spec("other"), kNow, "k")->existed);
    ASSERT_TRUE(txn.append(request("t", Batch().log("a"))));
    EXPECT_EQ(txn.task("t")->state.last_sequence, 1u);
    ASSERT_TRUE(txn.delete_task("t"));
    EXPECT_EQ(reason(txn.task("t")), "not_found/unknown_task");
    ASSERT_TRUE(txn.create_task(spec("t"), kNow + 1, ""));
    ASSERT_TRUE(txn.append(request("t", Batch().log("b"))));
  });
  ASSERT_TRUE(commit);
  EXPECT_THAT(commit->runs, SizeIs(1)) << "the deleted log is not announced";
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("b"));
  EXPECT_EQ(store().task("t")->created_ms, kNow + 1);
}

TEST_P(EventStoreConformance, UpdateReplacesTitleAndLabels) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a")));
  TaskSpec changed = spec("t");
  changed.title = "Login";
  changed.labels = {{"team", "web"}};
  Result<Task> updated = fail(ErrorCode::internal, "", "");
  ASSERT_TRUE(store().write([&](WriteTxn& txn) {
    updated = txn.update_task(changed);
    EXPECT_EQ(reason(txn.update_task(spec("nobody"))), "not_found/unknown_task");
  }));
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->state.last_sequence, 1u);
  reopen();
  auto task = store().task("t");
  EXPECT_EQ(task->spec.title, "Login");
  EXPECT_EQ(task->spec.labels.at("team"), "web");
  EXPECT_EQ(task->spec.description, "Fix the login page");
  TaskFilter filter;
  filter.labels = {{"team", "web"}};
  EXPECT_THAT(*store().tasks(filter), SizeIs(1));
  EXPECT_TRUE(create(store(), spec("t"))->existed) << "compared with what was asked for, not with the patched one";
}

TEST_P(EventStoreConformance, DeleteErasesEverything) {
  make_task("t");
  make_task("u");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1).detail("{\"raw\":\"secret\"}"), strict("p")));
  ASSERT_TRUE(append(store(), "t", Batch().log("b").id("x")));
  ASSERT_TRUE(append(store(), "u", Batch().log("c").detail("{\"raw\":\"secret\"}")));
  ASSERT_TRUE(erase(store(), "t"));
  EXPECT_EQ(reason(erase(store(), "t")), "not_found/unknown_task");
  reopen();
  EXPECT_EQ(reason(store().read("t", 0, {})), "not_found/unknown_task");
  EXPECT_EQ(reason(store().detail("t", 1)), "not_found/unknown_task");
  EXPECT_EQ(store().stats()->events, 1u);
  EXPECT_EQ(*store().detail("u", 1), "{\"raw\":\"secret\"}") << "equal content of others stays";
  make_task("t");
  EXPECT_THAT(summaries(store(), "t"), IsEmpty());
  EXPECT_EQ(append(store(), "t", Batch().log("a", 1), strict("p"))->last_sequence, 1u);
  EXPECT_EQ(append(store(), "t", Batch().log("b").id("x"))->added, 1u);
}

TEST_P(EventStoreConformance, TasksAreFilteredAndPagedNewestFirst) {
  auto make = [&](const std::string& id, std::int64_t created_ms, auto edit) {
    TaskSpec one = spec(id);
    edit(one);
    ASSERT_TRUE(create(store(), one, created_ms));
  };
  make("a", kNow, [](TaskSpec& s) { s.agent = "claude"; });
  make("b", kNow + 1, [](TaskSpec& s) { s.workflow_id = "w", s.labels = {{"fleet", "night"}, {"k", "v"}}; });
  make("c", kNow + 1, [](TaskSpec& s) { s.repo_url = "https://example.com/x.git", s.source_id = "42"; });
  make("d", kNow + 2, [](TaskSpec& s) { s.description = "Rename the FOO module", s.labels = {{"k", "w"}}; });
  ASSERT_TRUE(append(store(), "a", Batch().status("completed")));
  ASSERT_TRUE(append(store(), "b", Batch().log("working")));
  reopen();
  auto ids = [&](const TaskFilter& filter) {
    std::string found;
    auto tasks = store().tasks(filter);
    EXPECT_TRUE(tasks);
    for (const Task& task : *tasks) found += task.spec.id;
    return found;
  };
  EXPECT_EQ(ids({}), "dcba") << "equal times are ordered by id";
  EXPECT_EQ(ids({.state = State::running}), "b");
  EXPECT_EQ(ids({.state = State::completed}), "a");
  EXPECT_EQ(ids({.active = true}), "dcb");
  EXPECT_EQ(ids({.agent = "claude"}), "a");
  EXPECT_EQ(ids({.workflow = "w"}), "b");
  EXPECT_EQ(ids({.repo = "https://example.com/x.git"}), "c");
  EXPECT_EQ(ids({.issue = "42"}), "c");
  EXPECT_EQ(ids({.fleet = "night"}), "b");
  EXPECT_EQ(ids({.text = "foo"}), "d");
  EXPECT_EQ(ids({.labels = {{"k", "v"}}}), "b");
  EXPECT_EQ(ids({.labels = {{"k", "v"}, {"fleet", "day"}}}), "");
  EXPECT_EQ(ids({.limit = 2}), "dc");
  EXPECT_EQ(ids({.before = "c", .limit = 2}), "ba");
  EXPECT_EQ(ids({.active = true, .before = "c"}), "b");
  EXPECT_EQ(reason(store().tasks({.before = "nobody"})), "not_found/unknown_task");
}

// --- reading ---

TEST_P(EventStoreConformance, ReadReturnsWhatComesAfter) {
  make_task("t");
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(append(store(), "t", Batch().log(std::to_string(2 * i - 1)).log(std::to_string(2 * i))));
  }
  EXPECT_THAT(summaries(store(), "t", 7), ElementsAre("8", "9", "10"));
  auto middle = store().read("t", 3, {.events = 3});
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->head, 10u);
  EXPECT_EQ(middle->first, 1u);
  EXPECT_EQ(middle->runs.front()->first, 3u) << "whole runs: it may begin before what was asked";
  EXPECT_EQ(middle->runs.back()->last(), 6u);
  EXPECT_TRUE(middle->complete.empty());
  auto end = store().read("t", 10, {});
  EXPECT_THAT(end->runs, IsEmpty());
  EXPECT_EQ(end->head, 10u);
  EXPECT_THAT(store().read("t", 99, {})->runs, IsEmpty());
  EXPECT_EQ(store().read("t", 0, {.bytes = 1})->runs.size(), 1u) << "at least one run, however large";
  EXPECT_EQ(reason(store().read("nobody", 0, {})), "not_found/unknown_task");
  EXPECT_THAT(summaries(store(), "t", 0, {.events = 1, .bytes = 1}), SizeIs(10));
}

TEST_P(EventStoreConformance, ReadBeforeReturnsTheNewestBelow) {
  make_task("t");
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(append(store(), "t", Batch().log(std::to_string(2 * i - 1)).log(std::to_string(2 * i))));
  }
  auto range = [&](std::uint64_t before, std::size_t events) {
    auto page = store().read_before("t", before, {.events = events});
    EXPECT_TRUE(page);
    if (page->runs.empty()) return std::string("none");
    return std::to_string(page->runs.front()->first) + "-" + std::to_string(page->runs.back()->last());
  };
  EXPECT_EQ(range(0, 2), "9-10");
  EXPECT_EQ(range(0, 3), "7-10");
  EXPECT_EQ(range(11, 1), "9-10");
  EXPECT_EQ(range(99, 1), "9-10");
  EXPECT_EQ(range(10, 1), "9-10") << "the run that holds 9";
  EXPECT_EQ(range(9, 2), "7-8");
  EXPECT_EQ(range(9, 100), "1-8");
  EXPECT_EQ(range(2, 1), "1-2");
  EXPECT_EQ(range(1, 1), "none");
  EXPECT_EQ(store().read_before("t", 3, {.events = 1})->head, 10u);
  EXPECT_EQ(reason(store().read_before("nobody", 0, {})), "not_found/unknown_task");
}

TEST_P(EventStoreConformance, ReadAllFollowsCommitOrder) {
  EXPECT_EQ(store().read_all(0, {})->first, 0u);
  make_task("a");
  make_task("b");
  ASSERT_TRUE(append(store(), "a", Batch().log("1").log("2")));
  ASSERT_TRUE(append(store(), "b", Batch().log("3")));
  ASSERT_TRUE(append(store(), "a", Batch().log("4")));
  reopen();
  auto all = store().read_all(0, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->first, 1u);
  EXPECT_EQ(all->head, 4u);
  ASSERT_THAT(all->runs, SizeIs(3));
  EXPECT_EQ(all->runs[1]->task, "b");
  EXPECT_EQ(all->runs[1]->position, 3u);
  EXPECT_EQ(all->runs[2]->first, 3u) << "sequence in its own log";
  auto inside = store().read_all(1, {.events = 1});
  ASSERT_THAT(inside->runs, SizeIs(1));
  EXPECT_EQ(inside->runs[0]->position, 1u);
  EXPECT_THAT(store().read_all(4, {})->runs, IsEmpty());
}

TEST_P(EventStoreConformance, HeadsOfManyTasks) {
  make_task("a");
  make_task("b");
  ASSERT_TRUE(append(store(), "a", Batch().log("1").log("2")));
  auto heads = store().heads({"a", "b", "nobody", ""});
  ASSERT_TRUE(heads);
  EXPECT_EQ(*heads, (std::map<std::string, std::uint64_t>{{"", 2}, {"a", 2}, {"b", 0}}));
}

// --- details, records, retention ---

TEST_P(EventStoreConformance, DetailsStayBesideTheirEvents) {
  make_task("t");
  std::string large = "{\"raw\":\"" + std::string(100'000, 'z') + "\"}";
  ASSERT_TRUE(append(store(), "t", Batch().log("a").log("b").detail(large).log("c").detail("{}")));
  ASSERT_TRUE(append(store(), "t", Batch().log("d").detail(large)));
  reopen();
  EXPECT_EQ(*store().detail("t", 2), large);
  EXPECT_EQ(*store().detail("t", 3), "{}");
  EXPECT_EQ(*store().detail("t", 4), large);
  EXPECT_EQ(reason(store().detail("t", 1)), "not_found/no_detail");
  EXPECT_EQ(reason(store().detail("t", 5)), "not_found/no_detail");
  EXPECT_EQ(reason(store().detail("nobody", 1)), "not_found/unknown_task");
  std::string beyond(kMaxDetailBytes + 1, ' ');
  EXPECT_EQ(reason(append(store(), "t", Batch().log("e").detail(beyond))), "too_large/detail_too_large");
}

TEST_P(EventStoreConformance, RecordsArePutAndRemoved) {
  ASSERT_TRUE(store().write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_record("token", "a", "1"));
    ASSERT_TRUE(txn.put_record("token", "b", std::string("\0\xff", 2)));
    ASSERT_TRUE(txn.put_record("other", "a", "3"));
  }));
  ASSERT_TRUE(store().write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_record("token", "a", "4"));
    ASSERT_TRUE(txn.put_record("other", "a", ""));
    ASSERT_TRUE(txn.put_record("other", "never there", ""));
  }));
  reopen();
  EXPECT_EQ(*store().records("token"),
            (std::map<std::string, std::string>{{"a", "4"}, {"b", std::string("\0\xff", 2)}}));
  EXPECT_THAT(*store().records("other"), IsEmpty());
}

TEST_P(EventStoreConformance, DroppingMovesTheStartOfTheLog) {
  make_task("t");
  make_task("u");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(append(store(), "t", Batch().log("x", 2 * i + 1).log("y", 2 * i + 2).detail("{\"n\":1}"), strict("p")));
    ASSERT_TRUE(append(store(), "u", Batch().log("z")));
  }
  ASSERT_TRUE(append(store(), "t", Batch().log("hook").id("h")));
  ASSERT_TRUE(drop(store(), "t", 3));
  reopen();
  auto page = store().read("t", 0, {});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->first, 3u) << "whole runs only: 3 is in the run 3-4";
  EXPECT_EQ(page->runs.front()->first, 3u);
  EXPECT_EQ(page->head, 7u);
  EXPECT_EQ(store().task("t")->state.first_sequence, 3u);
  EXPECT_EQ(reason(store().detail("t", 2)), "not_found/no_detail");
  EXPECT_EQ(*store().detail("t", 4), "{\"n\":1}");
  EXPECT_EQ(store().stats()->events, 8u);
  EXPECT_EQ(append(store(), "t", Batch().log("x", 1), strict("p"))->added, 0u) << "its number is still known";
  EXPECT_EQ(store().read_all(0, {})->first, 3u) << "position 3 is u's first event";

  ASSERT_TRUE(drop(store(), "t", 1'000'000));
  reopen();
  page = store().read("t", 0, {});
  EXPECT_EQ(page->first, 0u);
  EXPECT_EQ(page->head, 7u);
  EXPECT_THAT(page->runs, IsEmpty());
  EXPECT_EQ(append(store(), "t", Batch().log("hook").id("h"))->last_sequence, 8u) << "its id went with it";
  EXPECT_EQ(store().read("t", 0, {})->first, 8u);
  EXPECT_EQ(reason(drop(store(), "nobody", 1)), "not_found/unknown_task");
}

TEST_P(EventStoreConformance, OldestRunsComeFirst) {
  make_task("a");
  make_task("b");
  for (int i = 0; i < 3; ++i) {
    auto one = request(i == 1 ? "b" : "a", Batch().log("x").log("y"));
    one.received_ms = kNow + i;
    ASSERT_TRUE(append(store(), one));
  }
  auto runs = store().oldest_runs(2);
  ASSERT_TRUE(runs);
  ASSERT_THAT(*runs, SizeIs(2));
  EXPECT_EQ(runs->at(0).task, "a");
  EXPECT_EQ(runs->at(0).last, 2u);
  EXPECT_EQ(runs->at(1).task, "b");
  EXPECT_EQ(runs->at(1).first, 1u);
  EXPECT_EQ(runs->at(1).received_ms, kNow + 1);
  EXPECT_GT(runs->at(1).bytes, 100u);
}

TEST_P(EventStoreConformance, StatsCountWhatIsKept) {
  make_task("a");
  make_task("b");
  ASSERT_TRUE(append(store(), "a", Batch().log("x").log("y").detail("{\"raw\":[1,2,3]}")));
  ASSERT_TRUE(append(store(), "b", Batch().log("z")));
  reopen();
  auto stats = store().stats();
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->tasks, 2u);
  EXPECT_EQ(stats->events, 3u);
  EXPECT_GT(stats->bytes, 0u);
  EXPECT_GT(stats->detail_bytes, 0u);
  ASSERT_TRUE(erase(store(), "a"));
  EXPECT_EQ(store().stats()->events, 1u);
  EXPECT_EQ(store().stats()->detail_bytes, 0u);
}

TEST_P(EventStoreConformance, ReadsInsideATransactionSeeOnlyWhatIsCommitted) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a")));
  ASSERT_TRUE(store().write([&](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("t", Batch().status("completed"))));
    EXPECT_EQ(store().read("t", 0, {})->head, 1u);
    EXPECT_EQ(store().task("t")->state.state, State::running);
    EXPECT_EQ(store().heads({"t"})->at("t"), 1u);
    EXPECT_EQ(store().read_all(0, {})->head, 1u);
  }));
  EXPECT_EQ(store().read("t", 0, {})->head, 2u);
}

}  // namespace shepherd::testing
