// The second half of the suite, included by the first: tasks, reading, details, records and retention.
#pragma once

#include "conformance/event_store_conformance.h"
#include "model/limits.h"

namespace shepherd::testing {

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
  EXPECT_THAT(commit->batches, SizeIs(1)) << "the deleted log is not announced";
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
  EXPECT_THAT(*store().rows(filter), SizeIs(1));
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
    auto tasks = store().rows(filter);
    EXPECT_TRUE(tasks);
    for (const TaskRow& task : *tasks) found += task.spec.id;
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
  EXPECT_EQ(reason(store().rows({.before = "nobody"})), "not_found/unknown_task");
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
  EXPECT_EQ(middle->batches.front()->first, 3u) << "whole runs: it may begin before what was asked";
  EXPECT_EQ(middle->batches.back()->last(), 6u);
  EXPECT_TRUE(middle->complete.empty());
  auto end = store().read("t", 10, {});
  EXPECT_THAT(end->batches, IsEmpty());
  EXPECT_EQ(end->head, 10u);
  EXPECT_THAT(store().read("t", 99, {})->batches, IsEmpty());
  EXPECT_EQ(store().read("t", 0, {.bytes = 1})->batches.size(), 1u) << "at least one run, however large";
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
    if (page->batches.empty()) return std::string("none");
    return std::to_string(page->batches.front()->first) + "-" + std::to_string(page->batches.back()->last());
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
  ASSERT_THAT(all->batches, SizeIs(3));
  EXPECT_EQ(all->batches[1]->task, "b");
  EXPECT_EQ(all->batches[1]->position, 3u);
  EXPECT_EQ(all->batches[2]->first, 3u) << "sequence in its own log";
  auto inside = store().read_all(1, {.events = 1});
  ASSERT_THAT(inside->batches, SizeIs(1));
  EXPECT_EQ(inside->batches[0]->position, 1u);
  EXPECT_THAT(store().read_all(4, {})->batches, IsEmpty());
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
  EXPECT_EQ(page->batches.front()->first, 3u);
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
  EXPECT_THAT(page->batches, IsEmpty());
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
  auto batches = store().oldest_batches(2);
  ASSERT_TRUE(batches);
  ASSERT_THAT(*batches, SizeIs(2));
  EXPECT_EQ(batches->at(0).task, "a");
  EXPECT_EQ(batches->at(0).last, 2u);
  EXPECT_EQ(batches->at(1).task, "b");
  EXPECT_EQ(batches->at(1).first, 1u);
  EXPECT_EQ(batches->at(1).received_ms, kNow + 1);
  EXPECT_GT(batches->at(1).bytes, 100u);
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
  EXPECT_EQ(store().stats()->tasks, 1u);
  EXPECT_EQ(store().stats()->events, 1u);
  erase_leftovers(store());
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
