#include "follow/retention.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/manual_executor.h"
#include "bus/bus.h"
#include "follow/limits.h"
#include "store/memory/test_log.h"
#include "store/search_sqlite/sqlite_search_index.h"

namespace shepherd {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

class Retention : public testing::Test {
 protected:
  ~Retention() override { journal_.drain(); }

  // Runs one step; returns whether there is more.
  bool step(const RetentionPolicy& policy, Indexer* indexer = nullptr) {
    std::optional<Result<bool>> answer;
    retention_step(journal_, policy, log_.clock, [&](Result<bool> more) { answer = std::move(more); }, indexer);
    while (journal_.step()) {
    }
    EXPECT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->has_value()) << answer->error().message;
    return answer->value();
  }
  void append_runs(const std::string& task, int count) {
    for (int i = 0; i < count; ++i) log_.append(task, "event " + std::to_string(i));
  }
  std::uint64_t kept(const std::string& task) { return log_.store.read(task, 0, {100'000, 1 << 30})->batches.size(); }

  TestLog log_;
  MetricRegistry metrics_;
  Hub hub_{log_.clock, metrics_};
  NoBus bus_;
  ManualExecutor workers_;
  Journal journal_{log_.store, hub_, bus_, workers_, log_.clock, metrics_, false};
};

TEST_F(Retention, DropsByAge) {
  log_.make_task("a");
  append_runs("a", 3);
  log_.clock.advance_ms(10 * kDayMs);
  append_runs("a", 2);
  log_.clock.advance_ms(20 * kDayMs);
  EXPECT_FALSE(step({30, 0}));
  EXPECT_EQ(log_.first("a"), 1U) << "not older than 30 days yet";
  log_.clock.advance_ms(1);
  EXPECT_FALSE(step({30, 0}));
  EXPECT_EQ(log_.first("a"), 4U);
  log_.clock.advance_ms(1000 * kDayMs);
  EXPECT_FALSE(step({0, 0}));
  EXPECT_EQ(log_.first("a"), 4U) << "0 days: for ever";
}

TEST_F(Retention, ARunningTaskKeepsItsNewestRun) {
  log_.make_task("running");
  log_.make_task("ended");
  append_runs("running", 3);
  append_runs("ended", 3);
  log_.end("ended");
  log_.clock.advance_ms(100 * kDayMs);
  EXPECT_FALSE(step({30, 0}));
  EXPECT_EQ(kept("running"), 1U);
  EXPECT_EQ(log_.first("running"), 3U);
  EXPECT_EQ(kept("ended"), 0U);
}

TEST_F(Retention, GoesInSmallTransactions) {
  log_.make_task("a");
  append_runs("a", static_cast<int>(2 * kRetentionBatchesPerStep + 10));
  log_.clock.advance_ms(100 * kDayMs);
  std::optional<Result<bool>> answer;
  retention_step(journal_, {30, 0}, log_.clock, [&](Result<bool> more) { answer = std::move(more); });
  ASSERT_TRUE(journal_.step());
  EXPECT_EQ(log_.first("a"), kRetentionBatchesPerStep + 1);
  EXPECT_FALSE(answer.has_value()) << "other writes may go between";
  ASSERT_TRUE(journal_.step());
  EXPECT_EQ(log_.first("a"), 2 * kRetentionBatchesPerStep + 1);
  ASSERT_TRUE(journal_.step());
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->value());
  EXPECT_EQ(kept("a"), 1U);
}

TEST_F(Retention, ATransactionDropsFewEventsWhateverTheirBatches) {
  log_.make_task("a");
  for (int i = 0; i < 5; ++i) log_.append("a", log_drafts(std::vector<std::string>(1'000, "line")));
  log_.end("a");
  log_.clock.advance_ms(100 * kDayMs);
  std::optional<Result<bool>> answer;
  retention_step(journal_, {30, 0}, log_.clock, [&](Result<bool> more) { answer = std::move(more); });
  ASSERT_TRUE(journal_.step());
  EXPECT_EQ(log_.first("a"), kRetentionEventsPerStep + 1);
  while (journal_.step()) {
  }
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ(kept("a"), 0U);
}

TEST_F(Retention, SaysWhenMoreIsDueThanOneRoundTakes) {
  log_.make_task("a");
  append_runs("a", static_cast<int>(64 * kRetentionBatchesPerStep + 10));
  log_.end("a");
  log_.clock.advance_ms(100 * kDayMs);
  EXPECT_TRUE(step({30, 0}));
  EXPECT_EQ(kept("a"), 11U);
  EXPECT_FALSE(step({30, 0}));
  EXPECT_EQ(kept("a"), 0U);
}

TEST_F(Retention, SeesPastManyTasksThatRun) {
  for (std::size_t i = 0; i < 2 * kRetentionBatchesPerStep; ++i) {
    std::string task = "running" + std::to_string(i);
    log_.make_task(task);
    append_runs(task, 1);
  }
  log_.make_task("a");
  append_runs("a", 3);
  log_.clock.advance_ms(100 * kDayMs);
  step({30, 0});
  EXPECT_EQ(kept("a"), 1U);
  EXPECT_EQ(kept("running0"), 1U);
}

TEST_F(Retention, DropsTheOldestBeyondASize) {
  log_.make_task("a");
  log_.make_task("b");
  append_runs("a", 50);
  append_runs("b", 50);
  std::uint64_t bytes = log_.store.stats()->bytes;
  ASSERT_GT(bytes, 0U);
  EXPECT_FALSE(step({0, bytes}));
  EXPECT_EQ(log_.first("a"), 1U) << "not over";
  EXPECT_FALSE(step({0, bytes * 3 / 4}));
  EXPECT_LE(log_.store.stats()->bytes, bytes * 3 / 4);
  EXPECT_GT(log_.store.stats()->bytes, bytes / 2) << "and not more than needed";
  EXPECT_GT(log_.first("a"), 1U);
  EXPECT_EQ(log_.first("b"), 1U) << "the oldest go first";
}

TEST_F(Retention, TakesWordsOutOfTheIndex) {
  std::string name = testing::TempDir() + "retentionXXXXXX";
  std::filesystem::path directory = mkdtemp(name.data());
  auto index = std::move(*open_sqlite_search_index(directory / "search.db", 1'000));
  log_.make_task("a");
  append_runs("a", 3);
  {
    auto indexer = std::make_unique<Indexer>(log_.store, *index, metrics_);
    while (index->indexed_through().value() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    log_.clock.advance_ms(100 * kDayMs);
    step({30, 0}, indexer.get());
    EXPECT_EQ(index->search("event", 0, 10).value(), (std::vector<std::uint64_t>{3}));
  }
  std::filesystem::remove_all(directory);
}

TEST_F(Retention, SaysWhenTheWriteFailed) {
  log_.make_task("a");
  append_runs("a", 3);
  log_.clock.advance_ms(100 * kDayMs);
  log_.fault = Fault::fail_before_commit;
  std::optional<Result<bool>> answer;
  retention_step(journal_, {30, 0}, log_.clock, [&](Result<bool> more) { answer = std::move(more); });
  while (journal_.step()) {
  }
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->has_value());
  EXPECT_EQ(log_.first("a"), 1U);
}

}  // namespace
}  // namespace shepherd
