// Several stores on one database, as the replicas of an installation have them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "conformance/postgres_schema.h"
#include "conformance/store_fixture.h"

namespace shepherd::testing {

namespace {

constexpr int kReplicas = 3;
constexpr int kAppends = 60;  // of each replica

// What a follower sees: every position and every change once, in order, and none that appears behind it later.
void follow(const EventStore& store, const std::atomic<bool>& writing) {
  Place place;
  for (bool last = false; !last;) {
    last = !writing;  // after the writers have ended, once more
    for (;;) {
      auto page = store.changes(place, {});
      ASSERT_TRUE(page) << page.error().message;
      ASSERT_FALSE(page->lost);
      for (const BatchPtr& batch : page->batches) {
        ASSERT_EQ(batch->position, place.position + 1) << "a position was committed after a greater one";
        place.position = batch->last_position();
      }
      for (const Change& change : page->changes) {
        ASSERT_EQ(change.number, place.change + 1) << "a change was committed after a greater one";
        place.change = change.number;
      }
      if (place == page->through && place == page->newest) break;
      place = page->through;
    }
  }
  auto newest = store.newest_place();
  ASSERT_TRUE(newest);
  EXPECT_EQ(place, *newest);
}

}  // namespace

TEST(SharedPostgres, WritersOnTheSameTasksLeaveNoHoleAndLoseNothing) {
  PostgresSchema schema;
  std::vector<std::unique_ptr<PostgresStore>> stores;
  for (int i = 0; i < kReplicas; ++i) stores.push_back(schema.open());
  for (const char* task : {"one", "two"}) ASSERT_TRUE(create(*stores[0], spec(task)));

  std::atomic<bool> writing{true};
  std::thread follower([&] { follow(*stores[0], writing); });
  std::vector<std::thread> writers;
  for (int replica = 0; replica < kReplicas; ++replica) {
    writers.emplace_back([&, replica] {
      EventStore& store = *stores[static_cast<std::size_t>(replica)];
      for (int i = 0; i < kAppends; ++i) {
        std::string text = std::to_string(replica) + "/" + std::to_string(i);
        // Both tasks in one transaction, in another order on each replica: they meet, and some start again.
        auto commit = store.write([&](WriteTxn& txn) {
          bool forward = (i + replica) % 2 == 0;
          for (const char* task : {forward ? "one" : "two", forward ? "two" : "one"}) {
            auto done = txn.append(request(task, Batch().log(text)));
            EXPECT_TRUE(done || done.error().reason == "conflicting_write") << done.error().message;
          }
          (void)txn.put_record("kind", "replica" + std::to_string(replica), text);
        });
        EXPECT_TRUE(commit) << commit.error().message;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  writing = false;
  follower.join();

  for (const char* task : {"one", "two"}) {
    std::vector<std::string> found = summaries(*stores[1], task);
    EXPECT_EQ(found.size(), std::size_t{kReplicas * kAppends});
    std::vector<int> next(kReplicas, 0);
    for (const std::string& text : found) {
      auto replica = static_cast<std::size_t>(text[0] - '0');
      EXPECT_EQ(text, std::to_string(replica) + "/" + std::to_string(next[replica]++));
    }
  }
}

TEST(SharedPostgres, AReplicaSeesWhatAnotherOneWrote) {
  PostgresSchema schema;
  auto one = schema.open(), other = schema.open();
  ASSERT_TRUE(create(*one, spec("task")));
  ASSERT_TRUE(append(*one, "task", Batch().log("first", 1), strict("p")));
  // The other replica has no state of the task, and the first one's is out of date afterwards.
  ASSERT_TRUE(append(*other, "task", Batch().log("second", 2), strict("p")));
  // A change without an event must not write that state back.
  TaskSpec renamed = spec("task");
  renamed.title = "Renamed";
  ASSERT_TRUE(one->write([&](WriteTxn& txn) { EXPECT_TRUE(txn.update_task(renamed)); }));
  EXPECT_EQ(other->row("task")->state.last_sequence, 2u);
  EXPECT_EQ(reason(append(*one, "task", Batch().log("second", 2), strict("p"))), "ok");
  EXPECT_EQ(reason(append(*one, "task", Batch().log("changed", 2), strict("p"))), "conflict/sequence_reused");
  ASSERT_TRUE(append(*one, "task", Batch().log("third", 3), strict("p")));
  EXPECT_EQ(summaries(*other, "task"), (std::vector<std::string>{"first", "second", "third"}));
  ASSERT_TRUE(erase(*other, "task"));
  EXPECT_EQ(reason(append(*one, "task", Batch().log("late"))), "not_found/unknown_task");
}

TEST(SharedPostgres, ARecordIsComparedAndSetByOneReplicaAtATime) {
  PostgresSchema schema;
  std::vector<std::unique_ptr<PostgresStore>> stores;
  for (int i = 0; i < kReplicas; ++i) stores.push_back(schema.open());
  std::vector<std::thread> counting;
  for (auto& store : stores) {
    counting.emplace_back([&store] {
      for (int i = 0; i < 30; ++i) {
        auto commit = store->write([](WriteTxn& txn) {
          auto now = txn.record("kind", "count");
          if (now) (void)txn.put_record("kind", "count", std::to_string(now->empty() ? 1 : std::stoi(*now) + 1));
        });
        EXPECT_TRUE(commit) << commit.error().message;
      }
    });
  }
  for (std::thread& thread : counting) thread.join();
  EXPECT_EQ(stores[0]->record("kind", "count").value_or("error"), std::to_string(kReplicas * 30));
}

TEST(SharedPostgres, ABrokenConnectionIsReplaced) {
  PostgresSchema schema;
  auto store = schema.open();
  ASSERT_TRUE(create(*store, spec("task")));
  ASSERT_TRUE(store->row("task"));
  auto end_all = [&] {
    schema.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '" + schema.name() +
               "'");
  };
  end_all();
  EXPECT_TRUE(append(*store, "task", Batch().log("after"))) << "the writer connects again";
  end_all();
  EXPECT_EQ(summaries(*store, "task"), (std::vector<std::string>{"after"})) << "a reader connects again";
}

TEST(SharedPostgres, ViewsShowEventsAndSessions) {
  PostgresSchema schema;
  auto store = schema.open();
  ASSERT_TRUE(create(*store, spec("task")));
  Batch batch;
  batch.add(EventType::session_start, "begins", 0, ",\"sessionID\":\"s1\"").log("two");
  ASSERT_TRUE(append(*store, "task", batch));
  auto connection = PostgresConnection::open(schema.url());
  ASSERT_TRUE(connection) << connection.error().message;
  auto events = (*connection)->run("SELECT agent_id, event_type FROM agent_events ORDER BY id");
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(events->text(0, 1), "session_start");
  auto sessions = (*connection)->run("SELECT session_id, agent_id, status FROM agent_sessions");
  ASSERT_TRUE(sessions) << sessions.error().message;
  ASSERT_EQ(sessions->size(), 1u);
  EXPECT_EQ(sessions->text(0, 0), "s1");
}

}  // namespace shepherd::testing
