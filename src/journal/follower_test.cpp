#include "journal/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/journal_fixture.h"
#include "journal/limits.h"

namespace shepherd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FollowerTest : public JournalFixture {
 protected:
  void TearDown() override {
    settle();
    follower_.reset();
    settle();
  }

  void follow(FollowOptions options = {}) {
    options.name = "test";
    auto followed = journal_.follow(std::move(options), workers_, [this](const News& news, auto done) {
      ++calls_;
      if (refuse_ > 0) {
        --refuse_;
        return done(false);
      }
      for (const std::string& task : news.deleted) seen_.push_back("-" + task);
      for (const RowPtr& row : news.rows) {
        seen_.push_back(row->spec.id + " " + std::to_string(row->state.last_sequence));
      }
      for (const Change& change : news.changes) {
        if (change.kind == ChangeKind::record_changed) seen_.push_back(change.name + "/" + change.key);
      }
      if (news.restarted) seen_.push_back("restarted");
      if (!hold_) return done(true);
      held_ = std::move(done);
    });
    ASSERT_TRUE(followed) << followed.error().message;
    follower_ = std::move(*followed);
    settle();
  }
  void create(const std::string& id) {
    TaskSpec spec;
    spec.id = id;
    spec.description = "Work";
    journal_.create_task(spec, "", [](Result<Created> made) { ASSERT_TRUE(made); });
    settle();
  }
  void erase(const std::string& id) {
    journal_.delete_task(id, [](Result<void> gone) { ASSERT_TRUE(gone); });
    settle();
  }
  void log(const std::string& id) { ASSERT_TRUE(append(id, R"({"type":"log","summary":"x"})")); }
  void status(const std::string& id) { ASSERT_TRUE(append(id, R"({"type":"status","data":{"state":"running"}})")); }
  std::vector<std::string> seen() { return std::exchange(seen_, {}); }

  std::vector<std::string> seen_;
  int calls_ = 0;
  int refuse_ = 0;
  bool hold_ = false;
  std::move_only_function<void(bool)> held_;
  std::unique_ptr<Follower> follower_;
};

TEST_F(FollowerTest, GetsEveryChangeOfThisProcessOnceAndInOrder) {
  create("before");
  follow();
  EXPECT_THAT(seen(), IsEmpty()) << "from now on";
  create("t");
  log("t");
  journal_.write([](WriteTxn& txn) { return txn.put_record("token", "7", "x"); }, [](Result<void>) {});
  settle();
  erase("t");
  create("t");
  EXPECT_THAT(seen(), ElementsAre("t 0", "t 1", "token/7", "-t", "t 0"));
  EXPECT_EQ(follower_->place(), *store_.newest_place());
}

TEST_F(FollowerTest, WhatComesTogetherIsOneCallWithTheNewestRows) {
  follow();
  hold_ = true;
  create("a");
  EXPECT_THAT(seen(), ElementsAre("a 0"));
  log("a");
  log("a");
  create("gone");
  erase("gone");
  EXPECT_THAT(seen(), IsEmpty()) << "one call at a time";
  hold_ = false;
  held_(true);
  settle();
  EXPECT_THAT(seen(), ElementsAre("-gone", "a 2"));
  EXPECT_EQ(calls_, 2);
}

TEST_F(FollowerTest, EventsOfOtherTypesMoveTheCursorWithoutACall) {
  create("t");
  FollowOptions options;
  options.types = steering_types();
  follow(std::move(options));
  log("t");
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(follower_->place(), *store_.newest_place());
  status("t");
  EXPECT_THAT(seen(), ElementsAre("t 2"));
  erase("t");
  EXPECT_THAT(seen(), ElementsAre("-t")) << "what is no event comes always";
}

// Another process over the same store: nothing is offered here, and a look finds it.
TEST_F(FollowerTest, WhatAnotherProcessWroteIsReadFromTheStore) {
  follow();
  TaskSpec spec;
  spec.id = "elsewhere";
  spec.description = "Work";
  ASSERT_TRUE(store_.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.create_task(spec, 1, "")); }));
  create("here");  // this commit does not follow the cursor, so the follower reads the store
  EXPECT_THAT(seen(), ElementsAre("elsewhere 0", "here 0"));
  ASSERT_TRUE(store_.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("elsewhere")); }));
  fault_ = Fault::fail_before_commit;
  journal_.write([](WriteTxn& txn) { return txn.put_record("k", "a", "1"); },
                 [](Result<void> put) { EXPECT_FALSE(put); });
  settle();
  fault_ = Fault::none;
  journal_.tick();  // a commit failed, so the stream may have more than was offered
  settle();
  EXPECT_THAT(seen(), ElementsAre("-elsewhere"));
}

// While the follower is only about to look, a commit that does not follow its place must not be taken for the next one.
TEST_F(FollowerTest, AHoleIsFoundAlsoJustAfterACall) {
  follow();
  hold_ = true;
  create("one");
  ASSERT_TRUE(store_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.delete_task("one")); }));  // by another process
  hold_ = false;
  held_(true);  // it posts its next look, which has not run yet
  TaskSpec spec;
  spec.id = "two";
  spec.description = "Work";
  journal_.create_task(spec, "", [](Result<Created> made) { ASSERT_TRUE(made); });
  while (journal_.step()) {
  }
  settle();
  EXPECT_THAT(seen(), ElementsAre("one 0", "-one", "two 0"));
}

TEST_F(FollowerTest, ACommitWhoseAnswerWasLostIsFound) {
  follow();
  fault_ = Fault::fail_after_commit;
  journal_.write([](WriteTxn& txn) { return txn.put_record("k", "a", "1"); },
                 [](Result<void> put) { EXPECT_FALSE(put); });
  settle();
  fault_ = Fault::none;
  EXPECT_THAT(seen(), IsEmpty());
  journal_.tick();
  settle();
  EXPECT_THAT(seen(), ElementsAre("k/a"));
}

TEST_F(FollowerTest, WhatCouldNotBeHandledComesAgainAfterATick) {
  follow();
  refuse_ = 2;
  create("t");
  EXPECT_EQ(calls_, 1);
  log("t");
  EXPECT_EQ(calls_, 1) << "it waits for the next tick";
  journal_.tick();
  settle();
  EXPECT_EQ(calls_, 2);
  EXPECT_THAT(seen(), IsEmpty());
  journal_.tick();
  settle();
  EXPECT_THAT(seen(), ElementsAre("t 1"));
}

TEST_F(FollowerTest, ADurableOneGoesOnWhereItStopped) {
  FollowOptions options;
  options.durable = true;
  follow(options);
  create("one");
  EXPECT_THAT(seen(), ElementsAre("one 0"));
  follower_.reset();
  settle();
  create("two");
  follow(options);
  EXPECT_THAT(seen(), ElementsAre("two 0"));
  clock_.advance_ms(kCursorInterval.count());
  journal_.tick();
  settle();
  EXPECT_EQ(decode_place(*store_.record(kCursors, "test")), follower_->place());
}

// Without a stored place the next start would skip what came before it.
TEST_F(FollowerTest, AFirstPlaceThatWasNotKeptIsKeptLater) {
  create("one");
  FollowOptions options;
  options.durable = true;
  fault_ = Fault::fail_before_commit;
  follow(options);
  settle();
  EXPECT_EQ(*store_.record(kCursors, "test"), "");
  fault_ = Fault::none;
  clock_.advance_ms(kCursorInterval.count());
  journal_.tick();
  settle();
  EXPECT_EQ(decode_place(*store_.record(kCursors, "test")), follower_->place());
}

TEST_F(FollowerTest, ADurableOneTakesOverTheCursorOfAnEarlierVersion) {
  create("t");
  log("t");
  journal_.write([](WriteTxn& txn) { return txn.put_record("old", "cursor", "1"); }, [](Result<void>) {});
  settle();
  status("t");
  FollowOptions options;
  options.durable = true;
  options.old_cursor = "old/cursor";
  follow(options);
  EXPECT_THAT(seen(), ElementsAre("t 2", "old/cursor"));
}

TEST_F(FollowerTest, WhilePausedTheCursorMovesAndResumingGoesBack) {
  follow();
  follower_->pause();
  create("one");
  Place place = *store_.newest_place();
  create("two");
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(follower_->place(), *store_.newest_place());
  follower_->resume(place);
  settle();
  EXPECT_THAT(seen(), ElementsAre("two 0"));
  create("three");
  EXPECT_THAT(seen(), ElementsAre("three 0"));
}

TEST_F(FollowerTest, ASlowOwnerReadsTheStoreInsteadOfKeepingEveryCommit) {
  create("t");
  follow();
  hold_ = true;
  log("t");
  EXPECT_THAT(seen(), ElementsAre("t 1"));
  for (std::size_t i = 0; i <= kMaxFollowerCommits; ++i) log("t");
  hold_ = false;
  held_(true);
  settle();
  auto pages = seen();
  ASSERT_FALSE(pages.empty());
  EXPECT_EQ(pages.back(), "t " + std::to_string(kMaxFollowerCommits + 2));
  EXPECT_LT(pages.size(), 5u);
  EXPECT_EQ(follower_->place(), *store_.newest_place());
}

TEST_F(FollowerTest, WorkWaitsUntilAPlaceIsReached) {
  follow();
  hold_ = true;
  create("t");
  std::vector<std::string> order;
  follower_->after({}, [&] { order.push_back("at once"); });
  follower_->after(*store_.newest_place(), [&] { order.push_back("later"); });
  settle();
  EXPECT_THAT(order, ElementsAre("at once"));
  hold_ = false;
  held_(true);
  settle();
  EXPECT_THAT(order, ElementsAre("at once", "later"));
  // By another process, so that nothing is offered.
  ASSERT_TRUE(store_.write([](WriteTxn& txn) { ASSERT_TRUE(txn.put_record("k", "a", "1")); }));
  (void)seen();
  follower_->after(*store_.newest_place(), [&] { order.push_back("read"); });
  settle();
  EXPECT_THAT(seen(), ElementsAre("k/a"));
  EXPECT_EQ(order.back(), "read");
  hold_ = true;
  create("u");
  follower_->after(*store_.newest_place(), [&] { order.push_back("never handled"); });
  held_(false);
  settle();
  EXPECT_EQ(order.back(), "never handled") << "nobody waits for what cannot be handled";
  hold_ = false;
}

TEST_F(FollowerTest, AfterStopNothingComes) {
  follow();
  follower_->stop();
  create("t");
  EXPECT_EQ(calls_, 0);
}

}  // namespace
}  // namespace shepherd
