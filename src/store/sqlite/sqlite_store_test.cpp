#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/limits.h"
#include "model/task_fold.h"
#include "store/limits.h"
#include "store/sqlite/check.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_fixture.h"

namespace shepherd::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(SqliteStoreTest, FilesAreForTheOwnerOnly) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat facts{};
    ASSERT_EQ(::stat((file() + suffix).c_str(), &facts), 0) << suffix;
    EXPECT_EQ(facts.st_mode & 0077, 0u) << suffix;
  }
}

TEST_F(SqliteStoreTest, ProgressStaysInMemoryAndStateChangesAreWritten) {
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("t")));
  ASSERT_TRUE(append(*store, "t", Batch().log("a")));
  EXPECT_EQ(one("SELECT state || last FROM task"), "running1") << "the first event changes the state";
  ASSERT_TRUE(append(*store, "t", Batch().log("b")));
  EXPECT_EQ(one("SELECT state || last FROM task"), "running1");
  EXPECT_EQ(store->task("t")->state.last_sequence, 2u);
  ASSERT_TRUE(store->flush());
  EXPECT_EQ(one("SELECT state || last FROM task"), "running2");
  ASSERT_TRUE(append(*store, "t", Batch().log("c")));
  ASSERT_TRUE(append(*store, "t", Batch().status("completed")));
  EXPECT_EQ(one("SELECT state || last FROM task"), "completed4");
}

TEST_F(SqliteStoreTest, WhatWasOnlyInMemoryIsFoldedAgain) {
  ScratchDirectory crashed;
  std::string before;
  {
    auto store = open(still());
    ASSERT_TRUE(create(*store, spec("t")));
    ASSERT_TRUE(append(*store, "t", Batch().log("a", 1), strict("p")));
    ASSERT_TRUE(store->flush());
    for (std::uint64_t n = 2; n <= 50; ++n) {
      Batch batch;
      batch.add(EventType::tool_call, "Reading \\\"x\\\" \\u00e4", n, ",\"tool\":\"Read\"");
      ASSERT_TRUE(append(*store, "t", batch, strict("p")));
      ASSERT_TRUE(append(*store, "t", Batch().log("loose", 2 * n), loose()));
    }
    Batch usage;
    usage.add(EventType::usage, "", 51, ",\"sessionID\":\"s\",\"data\":{\"costUSD\":0.25,\"inputTokens\":7}");
    ASSERT_TRUE(append(*store, "t", usage, strict("p")));
    before = encode_task_state(store->task("t")->state);
    // Copies the files while they are open, as a power cut would leave them.
    fs::copy(directory_.path(), crashed.path(), fs::copy_options::recursive);
  }
  auto store = SqliteStore::open(crashed.path(), still());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(encode_task_state((*store)->task("t")->state), before);
  EXPECT_EQ((*store)->stats()->events, 100u);
  EXPECT_EQ(reason(append(**store, "t", Batch().log("hole", 53), strict("p"))), "conflict/sequence_hole");
  EXPECT_EQ(append(**store, "t", Batch().log("next", 52), strict("p"))->last_sequence, 101u);
  EXPECT_EQ(append(**store, "t", Batch().log("loose", 4).log("three", 3), loose())->added, 1u);
}

TEST_F(SqliteStoreTest, AnInferredEndIsStillInferredAfterFolding) {
  ScratchDirectory crashed;
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("t")));
  auto inferred = request("t", Batch().status("timed_out"));
  inferred.by_server = true;
  ASSERT_TRUE(append(*store, inferred));
  // Resets the projection, so that only the log has the end.
  ASSERT_TRUE(sql()->execute("UPDATE task SET state = 'queued', first = 0, last = 0, projection = '{}'"));
  store.reset();
  ASSERT_TRUE(
      sql()->execute("UPDATE task SET state = 'queued', first = 0, last = 0, projection = '{}';"
                     "UPDATE meta SET value = 0 WHERE name IN ('projected_through', 'events')"));
  store = open(still());
  EXPECT_EQ(store->task("t")->state.state, State::timed_out);
  EXPECT_TRUE(store->task("t")->state.inferred_end);
}

TEST_F(SqliteStoreTest, OneProcessAtATime) {
  auto store = open();
  auto second = try_open();
  EXPECT_EQ(reason(second), "unavailable/database_locked");
  store.reset();
  EXPECT_TRUE(try_open());
}

TEST_F(SqliteStoreTest, LockedByAnotherProgramIsUnavailableUntilItLetsGo) {
  SqliteOptions options;
  options.busy_wait = std::chrono::milliseconds(20);
  auto store = open(options);
  ASSERT_TRUE(create(*store, spec("t")));
  auto other = sql();
  ASSERT_TRUE(other->execute("BEGIN IMMEDIATE"));
  EXPECT_EQ(reason(append(*store, "t", Batch().log("a"))), "unavailable/database_locked");
  EXPECT_TRUE(store->task("t")) << "reading goes on";
  ASSERT_TRUE(other->execute("COMMIT"));
  EXPECT_EQ(append(*store, "t", Batch().log("a"))->last_sequence, 1u);
}

TEST_F(SqliteStoreTest, NewerSchemaIsRefused) {
  open().reset();
  ASSERT_TRUE(sql()->execute("PRAGMA user_version = 99"));
  auto newer = try_open();
  ASSERT_FALSE(newer);
  EXPECT_EQ(reason(newer), "internal/newer_schema");
  EXPECT_THAT(newer.error().message, HasSubstr("99"));
  EXPECT_THAT(newer.error().message, HasSubstr("up to " + std::to_string(kSchemaVersion)));
  EXPECT_THAT(newer.error().message, HasSubstr(file()));
}

TEST_F(SqliteStoreTest, AVersionThatNeverWasIsRefused) {
  open().reset();
  for (const char* version : {"-1", "0", "-2147483648"}) {
    ASSERT_TRUE(sql()->execute(std::string("PRAGMA user_version = ") + version));
    auto refused = try_open();
    ASSERT_FALSE(refused) << version;
    EXPECT_EQ(reason(refused), "internal/corrupt");
    EXPECT_THAT(refused.error().message, HasSubstr(version));
    EXPECT_THAT(refused.error().message, HasSubstr("restore a backup"));
    EXPECT_EQ(reason(check_store(file())), "internal/corrupt");
  }
}

TEST_F(SqliteStoreTest, AnOlderSchemaIsMigrated) {
  {
    auto store = open();
    for (const char* id : {"t", "u"}) {
      ASSERT_TRUE(create(*store, spec(id)));
      ASSERT_TRUE(append(*store, id, Batch().log("a").log("b")));
      ASSERT_TRUE(append(*store, id, Batch().log("c")));
    }
  }
  // Restores the schema of version 1.
  ASSERT_TRUE(
      sql()->execute("DROP VIEW agent_sessions; DROP VIEW agent_events; DROP VIEW run_of_task; DROP TABLE run_place;"
                     "DROP TABLE task_info; DROP TABLE change; DROP TABLE lease;"
                     "DROP TABLE checkpoint; DROP TABLE leftover;"
                     "CREATE UNIQUE INDEX run_task ON run(task, last);"
                     "UPDATE run SET lengths = CAST(x'01' || substr(lengths, 2, 1) || substr(lengths, 7) AS BLOB);"
                     "DELETE FROM meta WHERE name = 'placed_through'; PRAGMA user_version = 1"));
  auto store = open();
  EXPECT_EQ(store->row("t")->spec.title, "Fix the login page");
  EXPECT_EQ(store->rows({})->size(), 2u);
  EXPECT_EQ(store->read("u", 1, {})->batches.size(), 2u);
  EXPECT_EQ(append(*store, "u", Batch().log("d"))->last_sequence, 4u);
  EXPECT_EQ(store->read("u", 0, {})->batches.size(), 3u);
  EXPECT_EQ(one("SELECT count(*) FROM agent_events WHERE agent_id = 'u'"), "4") << "one of them not placed yet";
  store.reset();
  EXPECT_EQ(one("SELECT count(*) FROM sqlite_schema WHERE name = 'run_task'"), "0");
  EXPECT_TRUE(check_store(file())->empty());
}

TEST_F(SqliteStoreTest, RunsArePlacedTogetherAndTheLongestWaitingFirst) {
  SqliteOptions options = still();
  options.unplaced_batches = 4;
  auto store = open(options);
  for (const char* id : {"t", "u"}) ASSERT_TRUE(create(*store, spec(id)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(*store, "t", Batch().log("a")));
  ASSERT_TRUE(append(*store, "u", Batch().log("a")));
  EXPECT_EQ(one("SELECT count(*) FROM run_place"), "0");
  ASSERT_TRUE(append(*store, "u", Batch().log("b")));
  ASSERT_TRUE(append(*store, "u", Batch().log("c")));
  EXPECT_EQ(one("SELECT group_concat(task || ':' || last) FROM run_place"), "1:1,1:2,1:3") << "one page for three";
  EXPECT_EQ(one("SELECT value FROM meta WHERE name = 'placed_through'"), "3");
  ASSERT_TRUE(store->flush());
  EXPECT_EQ(one("SELECT count(*) FROM run_place"), "6");
  EXPECT_EQ(one("SELECT value FROM meta WHERE name = 'placed_through'"), "6");
}

TEST_F(SqliteStoreTest, OtherFilesAreNotTouched) {
  std::ofstream(file()) << std::string(10'000, 'x');
  auto text = try_open();
  EXPECT_EQ(reason(text), "internal/corrupt");
  EXPECT_THAT(text.error().message, HasSubstr(file()));
  EXPECT_THAT(text.error().message, HasSubstr("shepherd doctor"));
  EXPECT_EQ(fs::file_size(file()), 10'000u);
  fs::remove(file());
  ASSERT_TRUE(Database::open(file(), OpenMode::create, {}).value()->execute("CREATE TABLE theirs(x)"));
  EXPECT_EQ(reason(try_open()), "internal/corrupt");
  EXPECT_EQ(one("SELECT count(*) FROM sqlite_schema"), "1");
}

TEST_F(SqliteStoreTest, ViewsAnswerInTheWordsOfTheOldSchema) {
  auto store = open();
  TaskSpec one_task = spec("t");
  one_task.workflow_id = "w";
  ASSERT_TRUE(create(*store, one_task));
  Batch batch;
  batch.add(EventType::session_start, "start", 0, ",\"sessionID\":\"s-1\"");
  batch.add(EventType::tool_call, "Reading", 0, ",\"sessionID\":\"s-1\",\"tool\":\"Read\"");
  batch.add(EventType::usage, "", 0, ",\"sessionID\":\"s-1\",\"data\":{\"costUSD\":0.5}");
  batch.log("no session");
  ASSERT_TRUE(append(*store, "t", batch));
  ASSERT_TRUE(append(*store, "t", Batch().status("completed")));
  EXPECT_EQ(one("SELECT count(*) || ' ' || count(DISTINCT id) || ' ' || count(session_id) FROM agent_events"), "5 5 3");
  EXPECT_EQ(one("SELECT group_concat(event_type) FROM agent_events WHERE agent_id = 't'"),
            "session_start,tool_call,usage,log,status");
  EXPECT_EQ(
      one("SELECT json_extract(event_data, '$.tool') || length(id) FROM agent_events WHERE event_type = 'tool_call'"),
      "Read36");
  EXPECT_EQ(one("SELECT timestamp FROM agent_events LIMIT 1"), format_timestamp(kNow));
  EXPECT_EQ(one("SELECT session_id || agent_id || workflow_id || status || (completed_at IS NOT NULL) ||"
                " json_extract(metrics, '$.costUSD') FROM agent_sessions WHERE agent_id = 't'"),
            "s-1twcompleted10.5");
}

TEST_F(SqliteStoreTest, EqualDetailsAreKeptOnceAndGoWithTheirEvents) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  ASSERT_TRUE(create(*store, spec("u")));
  std::string record =
      "{\"raw\":{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}}";
  ASSERT_TRUE(append(*store, "t", Batch().log("a").detail(record).log("b").detail(record)));
  ASSERT_TRUE(append(*store, "u", Batch().log("c").detail(record)));
  EXPECT_EQ(one("SELECT count(*) || ' ' || sum(refs) FROM blob"), "1 3");
  EXPECT_LT(store->stats()->detail_bytes, record.size()) << "the dictionary helps even with short records";
  ASSERT_TRUE(erase(*store, "t"));
  erase_leftovers(*store);
  EXPECT_EQ(one("SELECT count(*) || ' ' || sum(refs) FROM blob"), "1 1");
  ASSERT_TRUE(drop(*store, "u", 1));
  EXPECT_EQ(one("SELECT count(*) FROM blob"), "0");
  EXPECT_EQ(store->stats()->detail_bytes, 0u);
}

TEST_F(SqliteStoreTest, TheLogStaysBounded) {
  SqliteOptions options;
  options.wal = {256 * kKiB, 1 * kMiB, 64 * kKiB};
  auto store = open(options);
  ASSERT_TRUE(create(*store, spec("t")));
  std::string text(2000, 'x');
  Batch batch;
  for (int i = 0; i < 50; ++i) batch.log(text);
  std::uint64_t most = 0;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(append(*store, "t", batch));
    most = std::max(most, store->stats()->wal_bytes);
  }
  EXPECT_LT(most, 2 * kMiB) << "30 MiB went through it";
  EXPECT_GT(fs::file_size(file()), 20 * kMiB) << "and into the database";
}

TEST_F(SqliteStoreTest, DeletedSpaceIsGivenBack) {
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("keep")));
  ASSERT_TRUE(create(*store, spec("large")));
  std::string text(2000, 'x');
  Batch batch;
  for (int i = 0; i < 1000; ++i) batch.log(text);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*store, "large", batch));
  auto pages = std::stoul(one("PRAGMA page_count"));
  EXPECT_GT(store->stats()->content_bytes, 15 * kMiB);
  ASSERT_TRUE(erase(*store, "large"));
  erase_leftovers(*store);
  EXPECT_LT(store->stats()->content_bytes, 1 * kMiB) << "whatever the file's size says";
  while (store->housekeep()) {
  }
  EXPECT_LT(std::stoul(one("PRAGMA page_count")), pages / 2);
  EXPECT_TRUE(append(*store, "keep", Batch().log("a")));
}

// Readers always see a consistent state while batches, ends and deletions are committed.
TEST_F(SqliteStoreTest, ReadersSeeWholeCommits) {
  SqliteOptions options;
  options.project_every = 50;
  options.head_cache_tasks = 3;
  options.wal = {64 * kKiB, 512 * kKiB, 32 * kKiB};
  auto store = open(options);
  for (int t = 0; t < 8; ++t) ASSERT_TRUE(create(*store, spec("t" + std::to_string(t))));
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> reads = 0;
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&, r] {
      std::uint64_t position = 0;
      for (int round = r; !stop; ++round) {
        std::string id = "t" + std::to_string(round % 8);
        auto page = store->read(id, 0, {.events = 1'000'000, .bytes = kMaxPageBytes});
        ASSERT_TRUE(page) << page.error().message;
        std::uint64_t next = page->first;
        bool ended = false;
        for (const BatchPtr& stored : page->batches) {
          ASSERT_EQ(stored->first, next);
          next = stored->last() + 1;
          for (EventType type : stored->types) ended = ended || type == EventType::status;
        }
        ASSERT_EQ(next, page->batches.empty() ? page->first : page->head + 1);
        ASSERT_EQ(ended, !page->complete.empty()) << id << " " << page->head;
        ASSERT_GE(store->task(id)->state.last_sequence, page->head);
        auto all = store->read_all(position, {.events = 500});
        ASSERT_TRUE(all);
        for (const BatchPtr& stored : all->batches) {
          ASSERT_EQ(stored->position, position + 1);
          position = stored->last_position();
        }
        ASSERT_LE(position, all->head);
        ++reads;
      }
    });
  }
  for (int i = 0; i < 400 || reads < 100; ++i) {
    ASSERT_TRUE(store->write([&](WriteTxn& txn) {
      for (int t = 0; t < 8; t += 1 + i % 3) {
        (void)txn.append(request("t" + std::to_string(t), Batch().log("a").log("b")));
      }
      if (i == 200) (void)txn.append(request("t3", Batch().status("completed")));
    }));
  }
  stop = true;
  for (auto& reader : readers) reader.join();
}

}  // namespace
}  // namespace shepherd::testing
