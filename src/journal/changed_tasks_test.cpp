#include "journal/changed_tasks.h"

#include "journal/journal_fixture.h"

namespace shepherd {
namespace {

class NamesFeedTest : public JournalFixture {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b"}) {
      TaskSpec spec;
      spec.id = id;
      journal_.create_task(spec, "", [](Result<Created> created) { ASSERT_TRUE(created); });
    }
    settle();
  }
  void TearDown() override { feed_.close(); }
  void open(std::uint64_t after) {
    feed_.open(io_, after);
    settle();
  }
  void say(const std::string& task, const std::string& type = "log") {
    ASSERT_TRUE(append(task, R"({"type":")" + type + R"(","summary":"x"})"));
  }
  std::string taken() { return std::exchange(taken_, ""); }

  std::string taken_;
  std::uint64_t through_ = 0;
  bool at_once_ = true;  // the reader finishes before it returns
  ChangedTasks feed_{journal_, "the test", {}, [this](const std::set<std::string>& tasks, std::uint64_t through) {
                       for (const std::string& task : tasks) taken_ += task;
                       through_ = through;
                       if (at_once_ || tasks.empty()) feed_.done(through);
                     }};
};

TEST_F(NamesFeedTest, NamesWhoseEventsCameBeforeAndAfterItOpened) {
  say("a");
  say("b");
  open(1);
  EXPECT_EQ(taken(), "b") << "behind its position alone";
  say("a");
  EXPECT_EQ(taken(), "a");
  EXPECT_EQ(feed_.done_through(), 3U);
  feed_.close();
  say("b");
  EXPECT_EQ(taken(), "");
}

TEST_F(NamesFeedTest, NothingMoreComesBeforeTheReaderIsDone) {
  at_once_ = false;
  open(0);
  say("a");
  std::uint64_t through = through_;
  EXPECT_EQ(taken(), "a");
  say("b");
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(feed_.done_through(), 0U);
  feed_.done(through);
  settle();
  EXPECT_EQ(taken(), "b");
}

TEST_F(NamesFeedTest, WhatCouldNotBeDealtWithComesAgain) {
  at_once_ = false;
  open(0);
  say("a");
  EXPECT_EQ(taken(), "a");
  feed_.failed();
  settle();
  EXPECT_EQ(taken(), "") << "not before the tick";
  at_once_ = true;
  feed_.tick(clock_.steady_ms());
  settle();
  EXPECT_EQ(taken(), "a");
  say("b");
  EXPECT_EQ(taken(), "b");
}

TEST_F(NamesFeedTest, OfAFilteredFeedThePositionMovesWithoutNames) {
  std::string named;
  ChangedTasks filtered(journal_, "the test", steering_types(),
                        [&](const std::set<std::string>& tasks, std::uint64_t through) {
                          for (const std::string& task : tasks) named += task;
                          filtered.done(through);
                        });
  filtered.open(io_, 0);
  say("a");
  EXPECT_TRUE(append("b", R"({"type":"status","summary":"x","data":{"state":"running"}})"));
  settle();
  EXPECT_EQ(named, "b");
  EXPECT_EQ(filtered.done_through(), 2U);
  filtered.close();
}

}  // namespace
}  // namespace shepherd
