// Deletions: everything of a task is gone with one commit, whatever the store removes later.
#pragma once

#include "conformance/event_store_conformance.h"
#include "store/limits.h"

namespace shepherd::testing {

inline Result<bool> erase_some_leftovers(EventStore& store, std::size_t rows) {
  Result<bool> more = fail(ErrorCode::internal, "not_run", "");
  auto commit = store.write([&](WriteTxn& txn) { more = txn.erase_leftovers(rows); });
  if (!commit) return fail(commit.error());
  EXPECT_TRUE(commit->batches.empty() && commit->changes.empty() && commit->rows.empty());
  return more;
}

// A log of several batches with numbers, ids, details, and states at some of its events.
inline void write_long_log(EventStore& store, const std::string& task, const std::string& word) {
  std::uint64_t number = 0;
  for (int i = 0; i < 6; ++i) {
    Batch batch;
    for (int line = 0; line < 4; ++line) {
      std::string text = word + " " + std::to_string(++number);
      batch.log(text, number).id(text).detail("{\"raw\":\"" + text + "\"}");
    }
    batch.log(word, ++number).detail("{\"raw\":\"shared\"}");
    ASSERT_TRUE(append(store, task, batch, strict("p")));
  }
  ASSERT_TRUE(store.write([&](WriteTxn& txn) {
    Checkpoint checkpoint{txn.row(task)->state};
    EXPECT_TRUE(txn.add_checkpoint(task, kNow, checkpoint));
  }));
}

inline constexpr std::uint64_t kLongLog = 30;

// What is there after "t" was deleted: the task "other", and nothing of "t".
inline void expect_only_other(const EventStore& store) {
  EXPECT_EQ(reason(store.row("t")), "not_found/unknown_task");
  EXPECT_EQ(reason(store.task("t")), "not_found/unknown_task");
  EXPECT_EQ(reason(store.read("t", 0, {})), "not_found/unknown_task");
  EXPECT_EQ(reason(store.read_before("t", 0, {})), "not_found/unknown_task");
  EXPECT_EQ(reason(store.detail("t", 1)), "not_found/unknown_task");
  EXPECT_EQ(reason(store.checkpoint("t", kLongLog)), "not_found/unknown_task");
  EXPECT_FALSE(store.heads({"t"})->contains("t"));
  EXPECT_THAT(*store.rows({}), SizeIs(1));
  auto all = store.read_all(0, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->first, kLongLog + 1);
  EXPECT_EQ(all->head, kLongLog + 2);
  ASSERT_THAT(all->batches, SizeIs(1));
  EXPECT_EQ(all->batches.front()->task, "other");
  auto changes = store.changes({}, {});
  ASSERT_TRUE(changes);
  EXPECT_THAT(changes->batches, SizeIs(1));
  auto oldest = store.oldest_batches(100);
  ASSERT_TRUE(oldest);
  ASSERT_THAT(*oldest, SizeIs(1));
  EXPECT_EQ(oldest->front().task, "other");
  EXPECT_EQ(store.stats()->tasks, 1u);
  EXPECT_EQ(store.stats()->events, 2u);
  EXPECT_EQ(*store.detail("other", 1), "{\"raw\":\"shared\"}");
}

TEST_P(EventStoreConformance, ADeletedTaskIsGoneBeforeItsLeftoversAre) {
  make_task("t");
  make_task("other");
  write_long_log(store(), "t", "word");
  ASSERT_TRUE(append(store(), "other", Batch().log("mine").detail("{\"raw\":\"shared\"}").log("two")));
  ASSERT_TRUE(erase(store(), "t"));
  expect_only_other(store());
  reopen();
  expect_only_other(store());
  for (int piece = 0;; ++piece) {
    auto more = erase_some_leftovers(store(), 3);
    ASSERT_TRUE(more) << more.error().message;
    expect_only_other(store());
    if (piece % 8 == 7) reopen();
    if (!*more) break;
    EXPECT_GT(store().stats()->leftover_tasks, 0u);
    ASSERT_LT(piece, 100);
  }
  EXPECT_EQ(store().stats()->leftover_tasks, 0u);
  EXPECT_FALSE(*erase_some_leftovers(store(), 3));
  reopen();
  expect_only_other(store());
}

TEST_P(EventStoreConformance, ATaskCreatedAgainHasNothingOfTheDeletedOne) {
  make_task("t");
  write_long_log(store(), "t", "old");
  ASSERT_TRUE(erase(store(), "t"));
  make_task("t");
  EXPECT_THAT(log_of(store(), "t"), IsEmpty());
  EXPECT_FALSE(*store().checkpoint("t", kLongLog));
  // Its numbers and ids are new ones, although the deleted task had them.
  auto first = append(store(), "t", Batch().log("new", 1).id("old 1"), strict("p"));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->last_sequence, 1u);
  EXPECT_EQ(reason(store().detail("t", 1)), "not_found/no_detail");
  ASSERT_TRUE(append(store(), "t", Batch().log("kept", 2).detail("{\"raw\":\"old 2\"}"), strict("p")));
  while (*erase_some_leftovers(store(), 2)) {
    EXPECT_THAT(summaries(store(), "t"), ElementsAre("new", "kept"));
    EXPECT_EQ(*store().detail("t", 2), "{\"raw\":\"old 2\"}") << "equal content is kept once";
  }
  auto repeat = append(store(), "t", Batch().log("kept", 2).log("last", 3), strict("p"));
  ASSERT_TRUE(repeat) << repeat.error().message;
  reopen();
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("new", "kept", "last"));
  EXPECT_EQ(*store().detail("t", 2), "{\"raw\":\"old 2\"}");
  EXPECT_EQ(store().stats()->events, 3u);
  // Deleted twice: the leftovers of both go.
  ASSERT_TRUE(erase(store(), "t"));
  erase_leftovers(store());
  EXPECT_EQ(store().stats()->events, 0u);
  EXPECT_EQ(store().stats()->detail_bytes, 0u);
}

TEST_P(EventStoreConformance, APieceOfLeftoversThatIsUndoneStays) {
  make_task("t");
  write_long_log(store(), "t", "word");
  ASSERT_TRUE(erase(store(), "t"));
  std::uint64_t left = store().stats()->leftover_tasks, bytes = store().stats()->detail_bytes;
  ASSERT_TRUE(store().write([](WriteTxn& txn) {
    auto undone = txn.atomically([](WriteTxn& part) -> Result<void> {
      while (*part.erase_leftovers(5)) {
      }
      return fail(ErrorCode::conflict, "no", "");
    });
    EXPECT_FALSE(undone);
  }));
  EXPECT_EQ(store().stats()->leftover_tasks, left);
  EXPECT_EQ(store().stats()->detail_bytes, bytes);
  erase_leftovers(store());
  EXPECT_EQ(store().stats()->leftover_tasks, 0u);
  EXPECT_EQ(store().stats()->detail_bytes, 0u);
}

}  // namespace shepherd::testing
