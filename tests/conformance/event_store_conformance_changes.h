// The third part of the suite: the change stream, rows without payload, records, and operations that undo themselves.
#pragma once

#include "conformance/event_store_conformance.h"

namespace shepherd::testing {

// A change as text: "created t", "record token/7".
inline std::string text_of(const Change& change) {
  switch (change.kind) {
    case ChangeKind::task_created:
      return "created " + change.name;
    case ChangeKind::task_changed:
      return "changed " + change.name;
    case ChangeKind::task_deleted:
      return "deleted " + change.name;
    case ChangeKind::events_dropped:
      return "dropped " + change.name + " " + change.key;
    case ChangeKind::record_changed:
      return "record " + change.name + "/" + change.key;
    case ChangeKind::lease_changed:
      return "lease " + change.name + "/" + change.key;
  }
  return "?";
}

// Batches and changes in the order of the stream; a batch is "task first-last".
inline std::vector<std::string> stream_of(const std::vector<BatchPtr>& batches, const std::vector<Change>& changes) {
  std::vector<std::string> out;
  auto change = changes.begin();
  for (const BatchPtr& batch : batches) {
    for (; change != changes.end() && change->after < batch->position; ++change) out.push_back(text_of(*change));
    out.push_back(batch->task + " " + std::to_string(batch->first) + "-" + std::to_string(batch->last()));
  }
  for (; change != changes.end(); ++change) out.push_back(text_of(*change));
  return out;
}

// The whole stream after a place, read in pages of at most `events`.
inline std::vector<std::string> follow_all(const EventStore& store, Place after, std::size_t events) {
  std::vector<std::string> out;
  for (int pages = 0; pages < 1'000; ++pages) {
    auto page = store.changes(after, {events, 0});
    EXPECT_TRUE(page);
    if (!page || page->lost) return {"lost"};
    EXPECT_TRUE(page->through.covers(after));
    auto some = stream_of(page->batches, page->changes);
    out.insert(out.end(), some.begin(), some.end());
    if (page->through == page->newest) return out;
    EXPECT_NE(page->through, after) << "a page that does not reach the end leads on";
    after = page->through;
  }
  return {"endless"};
}

inline Result<void> put(EventStore& store, const std::string& kind, const std::string& key, const std::string& value) {
  Result<void> result;
  auto commit = store.write([&](WriteTxn& txn) { result = txn.put_record(kind, key, value); });
  if (!commit) return fail(commit.error());
  return result;
}

TEST_P(EventStoreConformance, EveryChangeIsInTheStreamInCommitOrder) {
  Place start = *store().newest_place();
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("a").log("b")));
  ASSERT_TRUE(put(store(), "token", "7", "secret"));
  TaskSpec patched = spec("t");
  patched.title = "Login";
  ASSERT_TRUE(store().write([&](WriteTxn& txn) { ASSERT_TRUE(txn.update_task(patched)); }));
  make_task("u");
  ASSERT_TRUE(append(store(), "u", Batch().log("c")));
  ASSERT_TRUE(append(store(), "t", Batch().log("d")));
  ASSERT_TRUE(drop(store(), "t", 2));
  ASSERT_TRUE(erase(store(), "u"));
  make_task("u");
  ASSERT_TRUE(append(store(), "u", Batch().log("e")));
  std::vector<std::string> expected{"created t",   "record token/7", "changed t", "created u", "t 3-3",
                                    "dropped t 2", "deleted u",      "created u", "u 1-1"};
  for (std::size_t page : {1, 2, 3, 100}) EXPECT_EQ(follow_all(store(), start, page), expected) << page;
  reopen();
  for (std::size_t page : {1, 2, 100}) EXPECT_EQ(follow_all(store(), start, page), expected) << page;
  Place end = *store().newest_place();
  EXPECT_THAT(follow_all(store(), end, 10), IsEmpty());
  make_task("v");
  EXPECT_THAT(follow_all(store(), end, 10), ElementsAre("created v")) << "numbers go on after a restart";
}

TEST_P(EventStoreConformance, ACommitHandsOutWhatItChanged) {
  make_task("t");
  auto commit = store().write([](WriteTxn& txn) {
    ASSERT_TRUE(txn.create_task(spec("u"), kNow, ""));
    ASSERT_TRUE(txn.append(request("u", Batch().log("a"))));
    ASSERT_TRUE(txn.append(request("t", Batch().status("running"))));
    ASSERT_TRUE(txn.put_record("kind", "key", "value"));
    ASSERT_TRUE(txn.create_task(spec("gone"), kNow, ""));
    ASSERT_TRUE(txn.delete_task("gone"));
    ASSERT_TRUE(txn.row("t"));
  });
  ASSERT_TRUE(commit);
  std::map<std::string, State> rows;
  for (const RowPtr& row : commit->rows) rows[row->spec.id] = row->state.state;
  EXPECT_EQ(rows, (std::map<std::string, State>{{"t", State::running}, {"u", State::running}}));
  EXPECT_EQ(commit->through, *store().newest_place());
  EXPECT_EQ(stream_of(commit->batches, commit->changes), follow_all(store(), commit->before, 100));
  EXPECT_EQ(commit->changes.back().number, commit->through.change);
  auto looked = store().write([](WriteTxn& txn) { ASSERT_TRUE(txn.row("t")); });
  EXPECT_THAT(looked->rows, IsEmpty()) << "a look changes nothing";
  EXPECT_EQ(looked->before, looked->through);
}

TEST_P(EventStoreConformance, OldChangesAreForgottenAndThatIsSaid) {
  Place start = *store().newest_place();
  std::uint64_t made = 0;
  while (made < kKeptChanges + 2 * kChangeTrim) {
    ASSERT_TRUE(store().write([&](WriteTxn& txn) {
      for (std::uint64_t i = 0; i < 10'000; ++i, ++made) ASSERT_TRUE(txn.put_record("k", "x", std::to_string(made)));
    }));
  }
  auto page = store().changes(start, {});
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->lost);
  EXPECT_EQ(page->through, *store().newest_place());
  Place recent = page->through;
  recent.change -= kKeptChanges / 2;
  EXPECT_EQ(follow_all(store(), recent, 5'000).size(), kKeptChanges / 2);
}

TEST_P(EventStoreConformance, ForgottenChangesTakeNoEventWithThem) {
  make_task("t");
  ASSERT_TRUE(append(store(), "t", Batch().log("first")));
  Place start = *store().newest_place();
  ASSERT_TRUE(append(store(), "t", Batch().log("a")));
  ASSERT_TRUE(store().write([&](WriteTxn& txn) {
    for (std::uint64_t i = 0; i < kKeptChanges + 2 * kChangeTrim; ++i) {
      ASSERT_TRUE(txn.put_record("k", "x", std::to_string(i)));
    }
  }));
  ASSERT_TRUE(append(store(), "t", Batch().log("b")));
  auto page = store().changes(start, {1, 0});
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->lost);
  EXPECT_THAT(page->changes, IsEmpty());
  ASSERT_THAT(page->batches, SizeIs(1));
  EXPECT_EQ(page->batches[0]->first, 2u);
  EXPECT_EQ(page->through, (Place{2, page->newest.change})) << "the next page reads on behind this event";
  ASSERT_TRUE(put(store(), "token", "7", "secret"));
  EXPECT_THAT(follow_all(store(), page->through, 100), SizeIs(2)) << "the second event and the new record";
}

TEST_P(EventStoreConformance, RowsCarryNoPayload) {
  TaskSpec big = spec("t");
  big.description = "First line\nand many more";
  big.context = std::string(1'000'000, 'x');
  big.command = {"sh", "-c", "true"};
  big.agent = "claude";
  ASSERT_TRUE(create(store(), big));
  ASSERT_TRUE(append(store(), "t", Batch().log("a")));
  reopen();
  auto row = store().row("t");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->spec.title, "First line");
  EXPECT_EQ(row->spec.agent, "claude");
  EXPECT_EQ(row->state.last_sequence, 1u);
  EXPECT_EQ(store().rows({})->at(0).spec.title, "First line");
  TaskFilter words;
  words.text = "MANY MORE";
  EXPECT_THAT(*store().rows(words), SizeIs(1)) << "text is looked for in the payload, too";
  auto task = store().task("t");
  EXPECT_EQ(task->spec.context.size(), 1'000'000u);
  EXPECT_EQ(task->spec.command.size(), 3u);
  EXPECT_EQ(reason(store().row("nobody")), "not_found/unknown_task");
}

TEST_P(EventStoreConformance, RecordsAreComparedAndSet) {
  ASSERT_TRUE(put(store(), "k", "a", "1"));
  reopen();
  EXPECT_EQ(*store().record("k", "a"), "1");
  EXPECT_EQ(*store().record("k", "b"), "");
  ASSERT_TRUE(store().write([](WriteTxn& txn) {
    EXPECT_EQ(*txn.record("k", "a"), "1");
    EXPECT_EQ(reason(txn.replace_record("k", "a", "0", "2")), "conflict/record_changed");
    EXPECT_TRUE(txn.replace_record("k", "a", "1", "2"));
    EXPECT_EQ(*txn.record("k", "a"), "2");
    EXPECT_TRUE(txn.replace_record("k", "b", "", "new"));
  }));
  EXPECT_EQ(*store().record("k", "a"), "2");
  EXPECT_EQ(*store().record("k", "b"), "new");
}

TEST_P(EventStoreConformance, ACursorIsKeptAndIsNoChange) {
  Place before = *store().newest_place();
  ASSERT_TRUE(store().write([](WriteTxn& txn) { ASSERT_TRUE(txn.keep_cursor("steering", "5.6")); }));
  EXPECT_EQ(*store().newest_place(), before);
  reopen();
  EXPECT_EQ(*store().record(kCursors, "steering"), "5.6");
}

TEST_P(EventStoreConformance, AFailedOperationLeavesNothingOfItself) {
  make_task("t");
  make_task("old");
  ASSERT_TRUE(append(store(), "t", Batch().log("a", 1), strict("p")));
  ASSERT_TRUE(append(store(), "old", Batch().log("x").id("once").detail("{\"raw\":1}")));
  ASSERT_TRUE(put(store(), "k", "a", "1"));
  Place before = *store().newest_place();
  StoreStats stats = *store().stats();
  Result<void> failed;
  auto commit = store().write([&](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("t", Batch().log("b", 2), strict("p"))));
    failed = txn.atomically([](WriteTxn& part) -> Result<void> {
      EXPECT_TRUE(part.append(request("t", Batch().log("c", 3).detail("{\"raw\":2}"), strict("p"))));
      EXPECT_TRUE(part.append(request("t", Batch().status("completed"))));
      EXPECT_TRUE(part.create_task(spec("new"), kNow, "key"));
      EXPECT_TRUE(part.append(request("new", Batch().log("n").id("n1"))));
      EXPECT_TRUE(part.put_record("k", "a", "2"));
      EXPECT_TRUE(part.drop_through("old", 1));
      EXPECT_TRUE(part.delete_task("old"));
      EXPECT_TRUE(part.create_task(spec("old"), kNow + 9, ""));
      EXPECT_TRUE(part.create_task(spec("brief"), kNow, ""));
      EXPECT_TRUE(part.delete_task("brief"));
      return fail(ErrorCode::conflict, "changed_my_mind", "");
    });
    EXPECT_EQ(txn.row("t")->state.last_sequence, 2u);
    EXPECT_EQ(reason(txn.row("new")), "not_found/unknown_task");
    EXPECT_EQ(*txn.record("k", "a"), "1");
    EXPECT_EQ(txn.row("old")->created_ms, kNow);
    ASSERT_TRUE(txn.append(request("t", Batch().log("d", 3), strict("p"))));
    ASSERT_TRUE(txn.append(request("old", Batch().log("x").id("once")))) << "its id is known again";
  });
  ASSERT_TRUE(commit);
  EXPECT_EQ(reason(failed), "conflict/changed_my_mind");
  for (int twice = 0; twice < 2; ++twice, reopen()) {
    EXPECT_THAT(summaries(store(), "t"), ElementsAre("a", "b", "d"));
    EXPECT_THAT(summaries(store(), "old"), ElementsAre("x"));
    EXPECT_EQ(store().row("t")->state.state, State::running);
    EXPECT_EQ(reason(store().row("new")), "not_found/unknown_task");
    EXPECT_EQ(store().row("old")->created_ms, kNow);
    EXPECT_EQ(*store().record("k", "a"), "1");
    EXPECT_EQ(*store().detail("old", 1), "{\"raw\":1}");
    EXPECT_EQ(store().stats()->detail_bytes, stats.detail_bytes);
    EXPECT_EQ(store().stats()->events, stats.events + 2);
    for (const std::string& each : follow_all(store(), before, 10)) EXPECT_THAT(each, HasSubstr("t ")) << each;
  }
  EXPECT_FALSE(create(store(), spec("another"), kNow, "key")->existed) << "the key was not used";
}

TEST_P(EventStoreConformance, AnOperationThatRunsAgainIsTheSame) {
  make_task("t");
  auto operation = [](WriteTxn& part) -> Result<void> {
    auto row = part.row("t");
    if (!row) return fail(row.error());
    auto appended = part.append(request("t", Batch().log("n" + std::to_string(row->state.last_sequence))));
    if (!appended) return fail(appended.error());
    return part.put_record("k", "last", std::to_string(appended->last_sequence));
  };
  ASSERT_TRUE(store().write([&](WriteTxn& txn) {
    // As a store does that has to repeat a transaction: the first run is undone.
    (void)txn.atomically([&](WriteTxn& part) -> Result<void> {
      EXPECT_TRUE(operation(part));
      return fail(ErrorCode::unavailable, "again", "");
    });
    EXPECT_TRUE(txn.atomically(operation));
    EXPECT_TRUE(txn.atomically(operation));
  }));
  reopen();
  EXPECT_THAT(summaries(store(), "t"), ElementsAre("n0", "n1"));
  EXPECT_EQ(*store().record("k", "last"), "2");
}

}  // namespace shepherd::testing
