// Failures of disk and process: killed in the middle of a write, no space left, damaged pages.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/limits.h"
#include "store/limits.h"
#include "store/sqlite/backup.h"
#include "store/sqlite/check.h"
#include "store/sqlite/sqlite_fixture.h"

namespace shepherd::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Appends forever and writes each acknowledged number to the pipe.
[[noreturn]] void write_until_killed(const std::string& directory, int acknowledged) {
  auto store = SqliteStore::open(directory);
  if (!store) _exit(2);
  (void)create(**store, spec("t"));
  std::uint64_t number = (*store)->task("t")->state.last_sequence;
  for (;;) {
    Batch batch;
    for (int i = 0; i < 5; ++i) batch.log("event", ++number);
    auto appended = append(**store, "t", batch, strict("p"));
    if (!appended || appended->last_sequence != number) _exit(3);
    if (write(acknowledged, &number, sizeof number) != sizeof number) _exit(4);
  }
}

TEST_F(SqliteStoreTest, NothingAcknowledgedIsMissingAfterSigkill) {
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      write_until_killed(directory_.path(), ends[1]);
    }
    close(ends[1]);
    std::uint64_t number = 0;
    for (int i = 0; i < 20 + 30 * round; ++i) {
      ASSERT_EQ(read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
      acknowledged = number;
    }
    kill(child, SIGKILL);
    while (read(ends[0], &number, sizeof number) == sizeof number) acknowledged = number;
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);

    auto store = open();
    auto events = log_of(*store, "t");
    EXPECT_GE(events.size(), acknowledged);
    EXPECT_EQ(store->task("t")->state.last_sequence, events.size());
    EXPECT_EQ(store->stats()->events, events.size());
    auto repeat = append(*store, "t", Batch().log("event", acknowledged), strict("p"));
    ASSERT_TRUE(repeat) << repeat.error().message;
    EXPECT_EQ(repeat->added, 0u);
  }
  EXPECT_THAT(*check_store(file()), IsEmpty());
}

// Limits the size of this process's files to `bytes` during its lifetime.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(SqliteStoreTest, AFullDiskRefusesWritesAndLosesNothing) {
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("t")));
  std::string text(5000, 'x');
  Batch batch;
  for (int i = 0; i < 20; ++i) batch.log(text);
  std::uint64_t acknowledged = 0;
  {
    FileSizeLimit limit(2 * kMiB);
    Result<Appended> last = fail(ErrorCode::internal, "", "");
    for (int i = 0; i < 100; ++i) {
      last = append(*store, "t", batch);
      if (!last) break;
      acknowledged = last->last_sequence;
    }
    ASSERT_FALSE(last) << "the limit was never reached";
    EXPECT_EQ(reason(last), "storage_full/storage_full") << last.error().message;
    EXPECT_EQ(reason(append(*store, "t", batch)), "storage_full/storage_full");
    EXPECT_EQ(store->task("t")->state.last_sequence, acknowledged);
    EXPECT_EQ(log_of(*store, "t").size(), acknowledged) << "reading goes on";
  }
  auto again = append(*store, "t", batch);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->last_sequence, acknowledged + 20);
  store.reset();
  store = open();
  EXPECT_EQ(log_of(*store, "t").size(), acknowledged + 20);
  store.reset();
  EXPECT_THAT(*check_store(file()), IsEmpty());
}

// A failed commit also rolls back the places it wrote, so they must count as waiting again. Otherwise the database
// would record that all batches are placed, and recovery after a crash would not find them.
TEST_F(SqliteStoreTest, PlacesThatAFailedCommitWroteWaitAgain) {
  SqliteOptions options = still();
  options.unplaced_batches = 2;
  auto store = open(options);
  for (const char* task : {"a", "b", "c"}) ASSERT_TRUE(create(*store, spec(task)));
  ASSERT_TRUE(append(*store, "a", Batch().log("first").log("second")));
  ASSERT_TRUE(append(*store, "b", Batch().log("first")));
  ASSERT_TRUE(append(*store, "b", Batch().log("second")));
  {
    FileSizeLimit limit(fs::file_size(file() + "-wal"));
    EXPECT_EQ(reason(store->flush()), "storage_full/storage_full") << "it would have placed all three";
  }
  ASSERT_EQ(one("SELECT count(*) FROM run_place"), "0");
  ASSERT_TRUE(append(*store, "c", Batch().log("only")));
  ASSERT_EQ(one("SELECT count(*) FROM run_place"), "1") << "one of a: those of b still wait";

  fs::create_directory(directory_.file("crashed"));
  for (const char* part : {"", "-wal"}) fs::copy_file(file() + part, directory_.file("crashed/shepherd.db") + part);
  auto after = SqliteStore::open(directory_.file("crashed"));
  ASSERT_TRUE(after) << after.error().message;
  for (const char* task : {"a", "b"}) EXPECT_EQ(log_of(**after, task).size(), 2u) << task;
}

TEST_F(SqliteStoreTest, BackupsOfARunningStoreOpenAsStores) {
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("t")));
  ASSERT_TRUE(append(*store, "t", Batch().log("a", 1).detail("{\"raw\":1}"), strict("p")));
  ASSERT_TRUE(append(*store, "t", Batch().log("not projected yet", 2), strict("p")));
  std::string copy = directory_.file("copy/backup.db");
  fs::create_directory(directory_.file("copy"));
  auto done = backup_database(file(), copy);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(reason(backup_database(file(), copy)), "conflict/destination_exists");
  ASSERT_TRUE(append(*store, "t", Batch().log("later", 3), strict("p")));

  EXPECT_THAT(*check_store(copy), IsEmpty());
  auto restored = SqliteStore::open(copy);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(summaries(**restored, "t"), (std::vector<std::string>{"a", "not projected yet"}));
  EXPECT_EQ(*(*restored)->detail("t", 1), "{\"raw\":1}");
  EXPECT_EQ((*restored)->task("t")->state.last_sequence, 2u);
  EXPECT_EQ(append(**restored, "t", Batch().log("own way", 3), strict("p"))->last_sequence, 3u);
  EXPECT_EQ(reason(backup_database(file(), directory_.file("nowhere/x.db"))), "unavailable/io_error");
}

TEST_F(SqliteStoreTest, LeftoversAreNoDamageAndGoPieceByPiece) {
  auto store = open(still());
  for (const char* task : {"gone", "kept"}) {
    ASSERT_TRUE(create(*store, spec(task)));
    for (int i = 0; i < 5; ++i) {
      std::string text = task + std::to_string(i);
      Batch batch;
      batch.log(text).id(text).detail("{\"raw\":\"" + text + "\"}").log("b").detail("{\"raw\":\"both\"}");
      ASSERT_TRUE(append(*store, task, batch));
    }
    ASSERT_TRUE(store->write(
        [&](WriteTxn& txn) { ASSERT_TRUE(txn.add_checkpoint(task, kNow, Checkpoint{txn.row(task)->state})); }));
  }
  ASSERT_TRUE(append(*store, "gone", Batch().log("numbered", 1), strict("p")));
  ASSERT_TRUE(erase(*store, "gone"));
  EXPECT_EQ(one("SELECT count(*) FROM run"), "11") << "the deletion itself is short";
  std::uint64_t rows = 11;
  for (bool more = true; more;) {
    EXPECT_THAT(*check_store(file()), IsEmpty());
    ASSERT_TRUE(store->write([&](WriteTxn& txn) { more = *txn.erase_leftovers(4); }));
    std::uint64_t left = std::stoull(one("SELECT count(*) FROM run"));
    EXPECT_LE(rows - left, 4u);
    rows = left;
  }
  EXPECT_THAT(*check_store(file()), IsEmpty());
  EXPECT_EQ(one("SELECT (SELECT count(*) FROM run) || ' ' || (SELECT count(*) FROM run_place) || ' ' ||"
                " (SELECT count(*) FROM detail) || ' ' || (SELECT count(*) FROM blob) || ' ' ||"
                " (SELECT count(*) FROM event_key) || ' ' || (SELECT count(*) FROM producer) || ' ' ||"
                " (SELECT count(*) FROM checkpoint) || ' ' || (SELECT count(*) FROM leftover)"),
            "5 0 10 6 5 0 1 0")
      << "what is left is of the task that was not deleted, whose places are not written yet";
}

TEST_F(SqliteStoreTest, LeftoversOfAKilledServerGoAfterItsRestart) {
  SqliteOptions options = still();
  options.unplaced_batches = 2;
  auto store = open(options);
  ASSERT_TRUE(create(*store, spec("gone")));
  ASSERT_TRUE(create(*store, spec("kept")));
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(append(*store, "gone", Batch().log("a word").detail("{\"raw\":" + std::to_string(i) + "}")));
  }
  ASSERT_TRUE(append(*store, "kept", Batch().log("b")));
  ASSERT_TRUE(erase(*store, "gone"));
  ASSERT_TRUE(store->write([](WriteTxn& txn) { ASSERT_TRUE(*txn.erase_leftovers(5)); }));

  std::string crashed = directory_.file("crashed/shepherd.db");
  fs::create_directory(directory_.file("crashed"));
  for (const char* part : {"", "-wal"}) fs::copy_file(file() + part, crashed + part);
  auto after = SqliteStore::open(directory_.file("crashed"), options);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ((*after)->stats()->events, 1u);
  EXPECT_EQ((*after)->stats()->leftover_tasks, 1u);
  EXPECT_THAT(*check_store(crashed), IsEmpty());
  for (bool more = true; more;) {
    ASSERT_TRUE((*after)->write([&](WriteTxn& txn) { more = *txn.erase_leftovers(5); }));
  }
  EXPECT_EQ((*after)->stats()->events, 1u);
  EXPECT_EQ((*after)->stats()->detail_bytes, 0u);
  EXPECT_EQ(log_of(**after, "kept").size(), 1u);
  after->reset();
  EXPECT_THAT(*check_store(crashed), IsEmpty());
  auto database = Database::open(crashed, OpenMode::read_write, std::chrono::milliseconds(1000));
  EXPECT_EQ(one(**database, "SELECT count(*) FROM run"), "1");
}

TEST_F(SqliteStoreTest, ABackupHasNoWordOfADeletedTask) {
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("gone")));
  ASSERT_TRUE(create(*store, spec("kept")));
  ASSERT_TRUE(append(*store, "gone", Batch().log("zqword").detail("{\"raw\":1}")));
  ASSERT_TRUE(append(*store, "kept", Batch().log("mine").detail("{\"raw\":2}")));
  ASSERT_TRUE(erase(*store, "gone"));
  ASSERT_EQ(store->stats()->leftover_tasks, 1u);
  std::string copy = directory_.file("copy.db");
  auto done = backup_database(file(), copy);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(*check_store(copy), IsEmpty());
  std::ifstream stream(copy, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_THAT(bytes, Not(HasSubstr("zqword")));
  EXPECT_THAT(bytes, HasSubstr("mine"));
  auto restored = SqliteStore::open(copy);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ((*restored)->stats()->leftover_tasks, 0u);
  EXPECT_EQ((*restored)->stats()->events, 1u);
  EXPECT_EQ(*(*restored)->detail("kept", 1), "{\"raw\":2}");
}

TEST_F(SqliteStoreTest, TheCheckFindsWhatIsWrong) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append(*store, "t", Batch().log("a").log("b").detail("{\"raw\":1}")));
  ASSERT_TRUE(store->flush());
  EXPECT_THAT(*check_store(file()), IsEmpty());
  store.reset();
  EXPECT_THAT(*check_store(file()), IsEmpty());

  auto finds = [&](const std::string& damage, const std::string& words) {
    fs::copy_file(file(), directory_.file("damaged.db"), fs::copy_options::overwrite_existing);
    auto database = Database::open(directory_.file("damaged.db"), OpenMode::read_write, {});
    EXPECT_TRUE((*database)->execute(damage));
    database->reset();
    auto problems = check_store(directory_.file("damaged.db"));
    EXPECT_TRUE(problems) << problems.error().message;
    EXPECT_THAT(*problems, ::testing::Contains(HasSubstr(words))) << damage;
  };
  finds("DELETE FROM run_place WHERE last = 4", "is not in its task's log");
  finds("UPDATE run_place SET position = 77 WHERE last = 4", "there is no batch 77");
  finds("DELETE FROM run WHERE last = 4", "events are missing before number 5");
  finds("DELETE FROM run WHERE last = 6", "the end of its log is missing");
  finds("DELETE FROM run", "its log is gone");
  finds("INSERT INTO checkpoint(task, sequence, whole, state) VALUES(1, 3, 1, '{\"lastSequence\":3,\"errors\":1}')",
        "the state kept for event 3 is not what its log says");
  finds("INSERT INTO checkpoint(task, sequence, whole, state) VALUES(9, 3, 1, '{}')", "the task 9, which is gone");
  finds("UPDATE run SET events = '[{}]' WHERE last = 2", "is damaged");
  finds("UPDATE task SET projection = replace(projection, 'running', 'paused')", "columns differ");
  finds("UPDATE task SET state = 'paused', projection = replace(projection, 'running', 'paused')",
        "not what its log says");
  finds("DELETE FROM blob", "has no content");
  finds("UPDATE blob SET refs = 7", "counted wrongly");
  finds("UPDATE meta SET value = 5 WHERE name = 'events'", "off by -1");
  finds("DELETE FROM task", "belongs to no task");
}

TEST_F(SqliteStoreTest, ADeletedTaskLeavesNoCheckpoint) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  Batch many;
  for (std::uint64_t i = 0; i < kCheckpointEvents; ++i) many.log("line");
  ASSERT_TRUE(append(*store, "t", many));
  EXPECT_EQ(one("SELECT count(*) FROM checkpoint"), "1");
  ASSERT_TRUE(erase(*store, "t"));
  erase_leftovers(*store);
  EXPECT_EQ(one("SELECT count(*) FROM checkpoint"), "0");
}

TEST_F(SqliteStoreTest, ADamagedCheckpointIsNotUsed) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  Batch many;
  for (std::uint64_t i = 0; i < kCheckpointEvents; ++i) many.log("line");
  ASSERT_TRUE(append(*store, "t", many));
  store.reset();
  ASSERT_TRUE(sql()->execute("UPDATE checkpoint SET state = '{\"lastSequence\":7'"));
  store = open();
  auto checkpoint = store->checkpoint("t", kCheckpointEvents);
  ASSERT_TRUE(checkpoint);
  EXPECT_FALSE(*checkpoint);
}

TEST_F(SqliteStoreTest, DamagedPagesAreAnErrorNotACrash) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  std::string text(3000, 'x');
  Batch batch;
  for (int i = 0; i < 100; ++i) batch.log(text);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(*store, "t", batch));
  store.reset();
  {
    std::fstream damage(file(), std::ios::in | std::ios::out | std::ios::binary);
    damage.seekp(static_cast<std::streamoff>(fs::file_size(file()) / 2));
    damage << std::string(64 * kKiB, '\x5a');
  }
  auto opened = try_open();
  if (opened) {
    std::uint64_t after = 0;
    Result<Page> page = Page{};
    do {
      page = (*opened)->read("t", after, {});
      if (page && !page->batches.empty()) after = page->batches.back()->last();
    } while (page && !page->batches.empty());
    ASSERT_FALSE(page);
    EXPECT_EQ(reason(page), "internal/corrupt");
    opened->reset();
  } else {
    EXPECT_EQ(reason(opened), "internal/corrupt");
  }
  auto problems = check_store(file());
  EXPECT_TRUE(!problems || !problems->empty());
}

TEST_F(SqliteStoreTest, ChangedTextIsAnErrorOnEveryWayOut) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  ASSERT_TRUE(append(*store, "t", Batch().log("sound", 1), strict("p")));
  ASSERT_TRUE(append(*store, "t", Batch().log("changed", 2).log("too", 3), strict("p")));
  ASSERT_TRUE(append(*store, "t", Batch().log("sound", 4), strict("p")));
  store.reset();
  ASSERT_TRUE(sql()->execute("UPDATE run SET events = replace(events, 'changed', 'chamged')"));
  store = open();
  auto damaged = store->read("t", 0, {});
  EXPECT_EQ(reason(damaged), "internal/corrupt");
  EXPECT_THAT(damaged.error().message, HasSubstr("Events 2 to 3 of t are damaged"));
  EXPECT_EQ(reason(store->read_before("t", 0, {})), "internal/corrupt");
  EXPECT_EQ(reason(store->read_all(0, {})), "internal/corrupt");
  EXPECT_EQ(store->read("t", 3, {})->batches.size(), 1u) << "what comes after it is sound";
  EXPECT_EQ(reason(append(*store, "t", Batch().log("changed", 2), strict("p"))), "internal/corrupt")
      << "nobody can say whether it is a repeat";
  store.reset();
  EXPECT_THAT(*check_store(file()), ::testing::Contains(HasSubstr("Events 2 to 3 of t are damaged")));
}

TEST_F(SqliteStoreTest, ChangedContentOfADetailIsAnError) {
  auto store = open();
  ASSERT_TRUE(create(*store, spec("t")));
  ASSERT_TRUE(append(*store, "t", Batch().log("one").detail(R"({"raw":"one"})")));
  ASSERT_TRUE(append(*store, "t", Batch().log("other").detail(R"({"raw":"other"})")));
  store.reset();
  ASSERT_TRUE(sql()->execute("UPDATE blob SET bytes = (SELECT bytes FROM blob WHERE key = 2) WHERE key = 1"));
  store = open();
  EXPECT_EQ(reason(store->detail("t", 1)), "internal/corrupt");
  EXPECT_EQ(*store->detail("t", 2), R"({"raw":"other"})");
  store.reset();
  EXPECT_THAT(*check_store(file()), ::testing::Contains(HasSubstr("content 1 is damaged")));
}

TEST_F(SqliteStoreTest, ADamagedLogIsItsOwnTasksTrouble) {
  auto store = open(still());
  ASSERT_TRUE(create(*store, spec("sound")));
  ASSERT_TRUE(create(*store, spec("damaged")));
  ASSERT_TRUE(append(*store, "damaged", Batch().log("a")));
  ASSERT_TRUE(append(*store, "damaged", Batch().log("b")));
  store.reset();
  ASSERT_TRUE(
      sql()->execute("UPDATE task SET last = 1, projection = json_set(projection, '$.lastSequence', 1)"
                     " WHERE id = 'damaged'; UPDATE run SET events = '[]' WHERE last = 2"));
  store = open(still());
  auto commit = store->write([](WriteTxn& txn) {
    EXPECT_EQ(reason(txn.append(request("damaged", Batch().log("c")))), "internal/corrupt");
    EXPECT_TRUE(txn.append(request("sound", Batch().log("a"))));
  });
  EXPECT_TRUE(commit);
  EXPECT_THAT(log_of(*store, "sound"), ::testing::SizeIs(1));
}

TEST(DetailCodec, ComesBackAndRefusesNonsense) {
  DetailCodec codec;
  for (std::size_t size : {0u, 1u, 100u, 100'000u, 8'000'000u}) {
    std::string detail(size, 'j');
    EXPECT_EQ(*codec.decompress(codec.compress(detail)), detail);
  }
  std::string bytes = codec.compress("{\"raw\":{\"type\":\"assistant\"}}");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(reason(codec.decompress(bytes.substr(0, cut))), "internal/corrupt") << cut;
  }
  EXPECT_EQ(reason(codec.decompress("not zstd")), "internal/corrupt");
  EXPECT_NE(content_hash("a"), content_hash("b"));
  EXPECT_EQ(content_hash("a").size(), 16u);
}

}  // namespace
}  // namespace shepherd::testing
