// The behaviour that every EventStore must have, as tests. An implementation instantiates the suite with a StoreMaker:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, EventStoreConformance, ::testing::Values(memory_maker()), maker_name);
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "conformance/store_fixture.h"
#include "store/limits.h"

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
  // Closes and opens a durable store, so that the checks after it also hold then.
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
  for (const BatchPtr& stored : commit->batches) {
    EXPECT_EQ(stored->position, position + 1);
    position = stored->last_position();
    events += stored->size();
    EXPECT_EQ(stored->received_ms, kNow);
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
  ASSERT_THAT(page->batches, SizeIs(1));
  EXPECT_EQ(page->batches[0]->position, 4u);
  EXPECT_EQ(page->head, 4u);
}

TEST_P(EventStoreConformance, LargeBatchesAreSplitIntoRuns) {
  make_task("t");
  Batch batch;
  std::string long_text(1000, 'x');
  for (std::size_t i = 0; i < 2 * kMaxStoredBatchEvents; ++i) batch.log(long_text);
  auto commit = store().write([&](WriteTxn& txn) { ASSERT_TRUE(txn.append(request("t", batch))); });
  ASSERT_TRUE(commit);
  EXPECT_GT(commit->batches.size(), 2u);
  for (const BatchPtr& stored : commit->batches) {
    EXPECT_LE(stored->size(), kMaxStoredBatchEvents);
    EXPECT_LE(stored->bytes.size(), kMaxStoredBatchBytes);
  }
  EXPECT_THAT(log_of(store(), "t"), SizeIs(2 * kMaxStoredBatchEvents));
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
  // The numbers of the lost transaction can be used again.
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
  EXPECT_THAT(commit->batches.back()->complete, HasSubstr("\"lastSequence\":2"));
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
  EXPECT_THAT(commit->batches.back()->complete, HasSubstr("\"lastSequence\":5"));
  auto events = log_of(store(), "t");
  EXPECT_THAT(events.at(2), HasSubstr("\"late\":true"));
  EXPECT_THAT(events.at(0), ::testing::Not(HasSubstr("\"late\"")));
  auto task = store().task("t");
  EXPECT_EQ(task->state.state, State::failed);
  EXPECT_TRUE(task->state.inferred_end);
  EXPECT_EQ(task->state.last_sequence, 5u);
}

}  // namespace shepherd::testing

#include "conformance/event_store_conformance_reads.h"  // IWYU pragma: keep: the other half of the suite
