// Checkpoints: states at some events of a log.
#pragma once

#include "conformance/event_store_conformance.h"
#include "model/task_fold.h"
#include "store/batch_fold.h"
#include "store/limits.h"

namespace shepherd::testing {

inline TaskState folded(const EventStore& store, const std::string& task, std::uint64_t through) {
  TaskState state;
  while (state.last_sequence < through) {
    auto page = store.read(task, state.last_sequence, {});
    EXPECT_TRUE(page && !page->batches.empty());
    for (const BatchPtr& batch : page->batches) EXPECT_TRUE(fold_batch(state, *batch, through));
  }
  return state;
}

inline void add_checkpoint(EventStore& store, const std::string& task, const Checkpoint& checkpoint,
                           std::int64_t created_ms = kNow) {
  ASSERT_TRUE(store.write([&](WriteTxn& txn) { EXPECT_TRUE(txn.add_checkpoint(task, created_ms, checkpoint)); }));
}

inline std::uint64_t checkpoint_at(const EventStore& store, const std::string& task, std::uint64_t at) {
  auto checkpoint = store.checkpoint(task, at);
  EXPECT_TRUE(checkpoint);
  return *checkpoint ? (*checkpoint)->state.last_sequence : 0;
}

TEST_P(EventStoreConformance, AppendingLeavesCheckpoints) {
  make_task("t");
  Batch thousand;
  for (int i = 0; i < 1'000; ++i) thousand.log("line");
  thousand.batch.drafts.back().type = EventType::error;
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(append(store(), "t", thousand));
  EXPECT_EQ(reason(store().checkpoint("nobody", 1)), "not_found/unknown_task");
  EXPECT_EQ(checkpoint_at(store(), "t", 4'999), 0u);
  EXPECT_EQ(checkpoint_at(store(), "t", 5'000), 5'000u) << "at the end of the append that passes a multiple";
  EXPECT_EQ(checkpoint_at(store(), "t", 8'999), 5'000u);
  EXPECT_EQ(checkpoint_at(store(), "t", 100'000), 9'000u);
  reopen();
  for (std::uint64_t at : {5'000u, 9'000u}) {
    auto checkpoint = store().checkpoint("t", at);
    ASSERT_TRUE(checkpoint && *checkpoint);
    EXPECT_TRUE((*checkpoint)->whole);
    EXPECT_EQ(encode_task_state((*checkpoint)->state), encode_task_state(folded(store(), "t", at)));
  }
}

TEST_P(EventStoreConformance, ARefusedOrRolledBackAppendLeavesNoCheckpoint) {
  make_task("t");
  Batch many;
  for (std::uint64_t i = 0; i < kCheckpointEvents; ++i) many.log("line");
  EXPECT_ANY_THROW((void)store().write([&](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("t", many)));
    throw std::runtime_error("given up");
  }));
  EXPECT_EQ(checkpoint_at(store(), "t", UINT32_MAX), 0u);
  ASSERT_TRUE(append(store(), "t", Batch().status("completed")));
  EXPECT_EQ(reason(append(store(), "t", many)), "gone/task_ended");
  EXPECT_EQ(checkpoint_at(store(), "t", UINT32_MAX), 0u);
}

TEST_P(EventStoreConformance, ReadersAddCheckpoints) {
  make_task("t");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(store(), "t", Batch().log("line")));
  add_checkpoint(store(), "t", {folded(store(), "t", 2)});
  add_checkpoint(store(), "t", {folded(store(), "t", 4), false});
  EXPECT_EQ(checkpoint_at(store(), "t", 1), 0u);
  EXPECT_EQ(checkpoint_at(store(), "t", 3), 2u);
  EXPECT_EQ(checkpoint_at(store(), "t", 4), 4u);
  EXPECT_FALSE((*store().checkpoint("t", 5))->whole);

  TaskState other = folded(store(), "t", 2);
  other.message = "another";
  add_checkpoint(store(), "t", {other});
  EXPECT_EQ((*store().checkpoint("t", 2))->state.message, "") << "the first one stays";
  other.last_sequence = 6;
  add_checkpoint(store(), "t", {other});
  EXPECT_EQ(checkpoint_at(store(), "t", 100), 4u) << "the log has no event 6";
  other.last_sequence = 5;
  add_checkpoint(store(), "t", {other}, kNow + 1);
  EXPECT_EQ(checkpoint_at(store(), "t", 100), 4u) << "it is of an earlier task with this id";
  ASSERT_TRUE(store().write([&](WriteTxn& txn) {
    EXPECT_EQ(reason(txn.add_checkpoint("nobody", kNow, {other})), "not_found/unknown_task");
  }));
}

TEST_P(EventStoreConformance, CheckpointsGoWithTheirEvents) {
  make_task("t");
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(append(store(), "t", Batch().log("line")));
  for (std::uint64_t at : {2u, 3u, 5u}) add_checkpoint(store(), "t", {folded(store(), "t", at)});
  ASSERT_TRUE(drop(store(), "t", 3));
  EXPECT_EQ(checkpoint_at(store(), "t", 2), 0u);
  EXPECT_EQ(checkpoint_at(store(), "t", 4), 3u) << "event 4 is folded into it";
  TaskState state;
  state.last_sequence = 2;
  add_checkpoint(store(), "t", {state});
  EXPECT_EQ(checkpoint_at(store(), "t", 2), 0u) << "event 3 is gone";
  reopen();
  EXPECT_EQ(checkpoint_at(store(), "t", 6), 5u);
  ASSERT_TRUE(erase(store(), "t"));
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("line").log("line").log("line").log("line")));
  EXPECT_EQ(checkpoint_at(store(), "t", 4), 0u);
}

}  // namespace shepherd::testing
