#include "follow/indexer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "follow/limits.h"
#include "store/memory/test_log.h"
#include "store/search_sqlite/sqlite_search_index.h"

namespace shepherd {
namespace {

using Positions = std::vector<std::uint64_t>;

class IndexerTest : public testing::Test {
 protected:
  IndexerTest() {
    std::string name = testing::TempDir() + "indexerXXXXXX";
    directory_ = mkdtemp(name.data());
    open_index();
    log_.make_task("a");
    log_.make_task("b");
  }
  ~IndexerTest() override {
    indexer_.reset();
    index_.reset();
    std::filesystem::remove_all(directory_);
  }

  void open_index() { index_ = std::move(*open_sqlite_search_index(directory_ / "search.db", 1'000'000)); }
  void start() { indexer_ = std::make_unique<Indexer>(log_.store, *index_, metrics_); }
  void wait_for(std::uint64_t position) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (index_->indexed_through().value() < position && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(index_->indexed_through().value(), position);
  }
  Positions find(std::string_view query) { return index_->search(query, 0, 500).value(); }

  std::filesystem::path directory_;
  MetricRegistry metrics_;
  TestLog log_;
  std::unique_ptr<SearchIndex> index_;
  std::unique_ptr<Indexer> indexer_;
};

TEST_F(IndexerTest, CatchesUpThenFollows) {
  log_.append("a", "Reading src/auth.go");
  log_.append("b", "Running go test");
  start();
  wait_for(2);
  EXPECT_EQ(find("auth.go"), (Positions{1}));
  log_.append("a", log_drafts({"third", "fourth"}));
  indexer_->wake();
  wait_for(4);
  EXPECT_EQ(find("fourth"), (Positions{4}));
  indexer_.reset();
  EXPECT_EQ(metrics_.gauge("shepherd_search_indexed_position", "").value(), 4);
  EXPECT_EQ(metrics_.gauge("shepherd_search_lag_events", "").value(), 0);
}

TEST_F(IndexerTest, GoesOnWhereItStopped) {
  log_.append("a", "one");
  start();
  wait_for(1);
  indexer_.reset();
  open_index();
  log_.append("a", "two");
  start();
  wait_for(2);
  EXPECT_EQ(find("one OR two"), (Positions{2, 1}));
}

TEST_F(IndexerTest, SkipsWhatRetentionDropped) {
  for (int i = 0; i < 10; ++i) log_.append("a", "event");
  log_.drop("a", 4);
  start();
  wait_for(10);
  EXPECT_EQ(find("event"), (Positions{10, 9, 8, 7, 6, 5}));
  indexer_.reset();
  for (int i = 0; i < 5; ++i) log_.append("a", "event");
  log_.drop("a", 15);
  start();
  wait_for(15);
}

TEST_F(IndexerTest, IndexesMoreThanABatch) {
  constexpr std::uint64_t kEvents = 3 * kIndexBatchEvents + 7;
  for (std::uint64_t i = 0; i < kEvents; i += 100) {
    log_.append("a", log_drafts(std::vector<std::string>(std::min<std::uint64_t>(100, kEvents - i), "common")));
  }
  log_.append("b", "rare");
  start();
  wait_for(kEvents + 1);
  EXPECT_EQ(find("rare"), (Positions{kEvents + 1}));
}

TEST_F(IndexerTest, ForgetsATask) {
  log_.append("a", log_drafts({"secret one", "secret two"}));
  log_.append("b", "secret three");
  log_.append("a", "secret four");
  start();
  wait_for(4);
  ASSERT_TRUE(indexer_->forget_task("a").has_value());
  EXPECT_EQ(find("secret"), (Positions{3}));
  EXPECT_TRUE(indexer_->forget_task("a").has_value()) << "again is harmless";
  EXPECT_TRUE(indexer_->forget_task("never was").has_value());
  log_.append("a", "secret five");
  indexer_->wake();
  wait_for(5);
  EXPECT_EQ(find("secret"), (Positions{5, 3})) << "a later task of the same name is indexed again";
}

TEST_F(IndexerTest, ForgetsThroughASequence) {
  for (int i = 0; i < 4; ++i) log_.append("a", log_drafts({"event", "event"}));
  start();
  wait_for(8);
  ASSERT_TRUE(indexer_->forget_through("a", 4).has_value());
  EXPECT_EQ(find("event"), (Positions{8, 7, 6, 5}));
}

// An index that temporarily refuses writes.
class FailingIndex final : public SearchIndex {
 public:
  explicit FailingIndex(SearchIndex& index) : index_(index) {}
  Result<void> add(const std::vector<SearchEntry>& entries, std::uint64_t through) override {
    if (failing) return fail(ErrorCode::unavailable, "search_index", "for the test");
    return index_.add(entries, through);
  }
  Result<void> remove(const std::vector<SearchEntry>& entries) override { return index_.remove(entries); }
  Result<void> purge() override { return index_.purge(); }
  Result<std::uint64_t> indexed_through() const override { return index_.indexed_through(); }
  Result<std::vector<std::uint64_t>> search(std::string_view query, std::uint64_t before,
                                            std::size_t limit) const override {
    return index_.search(query, before, limit);
  }
  std::atomic<bool> failing{true};

 private:
  SearchIndex& index_;
};

TEST_F(IndexerTest, WhatWasForgottenDoesNotComeInLater) {
  log_.append("a", log_drafts({"secret one", "secret two"}));
  log_.append("b", "secret three");
  log_.append("a", "secret four");
  FailingIndex index(*index_);
  indexer_ = std::make_unique<Indexer>(log_.store, index, metrics_);
  ASSERT_TRUE(indexer_->forget_task("a").has_value());
  ASSERT_TRUE(indexer_->forget_through("b", 0).has_value());
  log_.append("a", "a new task of that name");
  index.failing = false;
  wait_for(5);
  EXPECT_EQ(find("secret"), (Positions{3}));
  EXPECT_EQ(find("new"), (Positions{5}));
  indexer_.reset();
}

}  // namespace
}  // namespace shepherd
