#include "follow/leftovers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/manual_executor.h"
#include "bus/bus.h"
#include "follow/retention.h"
#include "store/limits.h"
#include "store/memory/test_log.h"
#include "store/sqlite/sqlite_store.h"

namespace shepherd {
namespace {

// Over a store that keeps leftovers.
class LeftoversTest : public testing::Test {
 protected:
  LeftoversTest() { begin(); }
  ~LeftoversTest() override {
    end();
    std::filesystem::remove_all(directory_);
  }

  static std::filesystem::path made() {
    std::string name = testing::TempDir() + "leftoversXXXXXX";
    return mkdtemp(name.data());
  }
  void begin() {
    auto store = SqliteStore::open(directory_, {.busy_wait = std::chrono::milliseconds(20), .housekeeping = false});
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
    journal_.emplace(*store_, hub_, bus_, workers_, clock_, metrics_, false);
    open();
  }
  void open() {
    auto opened = Leftovers::open(*journal_, workers_);
    ASSERT_TRUE(opened) << opened.error().message;
    leftovers_ = std::move(*opened);
  }
  void end() {
    leftovers_.reset();
    workers_.run_all();
    journal_.reset();
    store_.reset();
  }
  void settle() {
    while (workers_.run_one() || journal_->step()) {
    }
  }
  // Each event has an id, which is a row of its own.
  void make_log(const std::string& task, std::size_t events) {
    ASSERT_TRUE(store_->write([&](WriteTxn& txn) {
      TaskSpec spec;
      spec.id = task;
      ASSERT_TRUE(txn.create_task(spec, 1, ""));
      DraftBatch drafts = log_drafts(std::vector<std::string>(events, "line"));
      for (std::size_t i = 0; i < events; ++i) drafts.drafts[i].event_id = std::to_string(i);
      ASSERT_TRUE(txn.append({task, {}, std::move(drafts), 1, false}));
    }));
  }
  void delete_task(const std::string& task) {
    journal_->delete_task(task, [](Result<void> gone) { ASSERT_TRUE(gone); });
  }
  std::uint64_t left() const { return store_->stats()->leftover_tasks; }

  std::filesystem::path directory_ = made();
  ManualClock clock_;
  MetricRegistry metrics_;
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ManualExecutor workers_;
  std::unique_ptr<SqliteStore> store_;
  std::optional<Journal> journal_;
  std::unique_ptr<Leftovers> leftovers_;
};

TEST_F(LeftoversTest, GoAfterADeletionAndLetOtherWritesIn) {
  settle();
  make_log("t", 2 * kLeftoverRows + 10);
  delete_task("t");
  ASSERT_TRUE(journal_->step());
  EXPECT_EQ(left(), 1u);
  workers_.run_all();
  ASSERT_TRUE(journal_->step());
  EXPECT_EQ(left(), 1u) << "a piece of it is gone";
  std::optional<Result<Created>> made;
  TaskSpec other;
  other.id = "other";
  journal_->create_task(other, "", [&](Result<Created> created) { made = std::move(created); });
  ASSERT_TRUE(journal_->step());
  EXPECT_TRUE(made && *made) << "together with the next piece";
  EXPECT_EQ(left(), 1u);
  settle();
  EXPECT_EQ(left(), 0u);
}

TEST_F(LeftoversTest, GoOnAfterARestart) {
  settle();
  make_log("t", 2 * kLeftoverRows);
  delete_task("t");
  ASSERT_TRUE(journal_->step());
  end();
  begin();
  EXPECT_EQ(left(), 1u);
  settle();
  EXPECT_EQ(left(), 0u);
}

TEST_F(LeftoversTest, OfADeletionByAnotherProcessGo) {
  settle();
  make_log("t", 3);
  ASSERT_TRUE(store_->write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("t")); }));
  settle();
  EXPECT_EQ(left(), 1u) << "nothing was offered here";
  journal_->write([](WriteTxn& txn) { return txn.put_record("k", "a", "1"); },
                  [](Result<void> put) { ASSERT_TRUE(put); });  // does not follow the cursor: it reads the store
  settle();
  EXPECT_EQ(left(), 0u);
}

TEST_F(LeftoversTest, GoWithTheNextTickAfterAFailure) {
  settle();
  make_log("t", 3);
  delete_task("t");
  ASSERT_TRUE(journal_->step());
  workers_.run_all();
  auto lock = Database::open(store_->path(), OpenMode::read_write, std::chrono::milliseconds(1));
  ASSERT_TRUE((*lock)->execute("BEGIN IMMEDIATE"));
  // The store waits for the lock, and gives up.
  settle();
  EXPECT_EQ(left(), 1u);
  ASSERT_TRUE((*lock)->execute("ROLLBACK"));
  settle();
  EXPECT_EQ(left(), 1u);
  leftovers_->tick();
  settle();
  EXPECT_EQ(left(), 0u);
}

TEST_F(LeftoversTest, NoneGoAfterItStopped) {
  settle();
  make_log("t", 2 * kLeftoverRows);
  delete_task("t");
  ASSERT_TRUE(journal_->step());
  workers_.run_all();  // the first piece is in the queue
  leftovers_->stop();
  leftovers_->tick();
  settle();
  EXPECT_EQ(left(), 1u) << "a server that stops does not wait for the rest";
}

TEST_F(LeftoversTest, RetentionBySizeWaitsForThem) {
  leftovers_->stop();
  make_log("t", 200);
  make_log("kept", 1);
  ASSERT_TRUE(
      store_->write([](WriteTxn& txn) { ASSERT_TRUE(txn.append({"kept", {}, log_drafts({"second"}), 1, false})); }));
  delete_task("t");
  settle();
  ASSERT_EQ(left(), 1u);
  auto retain = [&] {
    std::optional<Result<bool>> more;
    retention_step(*journal_, {0, 1}, clock_, [&](Result<bool> said) { more = std::move(said); });
    settle();
    EXPECT_TRUE(more && *more);
  };
  retain();
  EXPECT_EQ(store_->row("kept")->state.first_sequence, 1u) << "the size is that of the deleted task";
  ASSERT_TRUE(store_->write([](WriteTxn& txn) { ASSERT_FALSE(*txn.erase_leftovers(1'000)); }));
  retain();
  EXPECT_EQ(store_->row("kept")->state.first_sequence, 2u);
}

}  // namespace
}  // namespace shepherd
