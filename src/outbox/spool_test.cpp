#include "outbox/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/descriptor.h"
#include "base/lack_for_test.h"
#include "outbox/limits.h"

namespace shepherd {
namespace {

class SpoolTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "spool_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Spool> create(std::size_t max_bytes = kSpoolBytes, std::size_t trim_bytes = kSpoolTrimBytes) {
    auto spool = Spool::create(directory_, {"task-1", "runner-1", "http://here"}, max_bytes, trim_bytes);
    EXPECT_TRUE(spool) << spool.error().message;
    return std::move(*spool);
  }
  static std::unique_ptr<Spool> reopen(const std::string& path) {
    auto spool = Spool::open(path);
    EXPECT_TRUE(spool) << spool.error().message;
    return std::move(*spool);
  }
  static std::vector<std::string> numbered(int from, int to) {
    std::vector<std::string> events;
    for (int i = from; i <= to; ++i) events.push_back("{\"n\":" + std::to_string(i) + "}");
    return events;
  }
  static std::string texts(Spool& spool, std::uint64_t after, std::size_t max_events = 1000,
                           std::size_t max_bytes = 1 << 20) {
    auto events = spool.read_after(after, max_events, max_bytes);
    EXPECT_TRUE(events) << events.error().message;
    std::string text;
    for (const SpooledEvent& event : *events) text += std::to_string(event.number) + event.json + " ";
    return text;
  }

  std::string directory_;
};

TEST_F(SpoolTest, GivesBackWhatItWasGivenAfterReopening) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 3)));
  ASSERT_TRUE(spool->set_delivered(1));
  ASSERT_TRUE(spool->replace(3, "{\"other\":3}"));
  std::string path = spool->path();
  spool.reset();
  spool = reopen(path);
  EXPECT_EQ(spool->identity().producer, "runner-1");
  EXPECT_EQ(spool->identity().destination, "http://here");
  EXPECT_EQ(spool->last(), 3u);
  EXPECT_EQ(spool->delivered(), 1u);
  EXPECT_EQ(spool->undelivered(), 2u);
  EXPECT_EQ(texts(*spool, 1), R"(2{"n":2} 3{"other":3} )");
  EXPECT_EQ(texts(*spool, 0, 1), R"(1{"n":1} )");
  ASSERT_TRUE(spool->append(numbered(4, 4)));
  EXPECT_EQ(texts(*spool, 3), R"(4{"n":4} )");
}

TEST_F(SpoolTest, ReadsInPortions) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 9)));
  EXPECT_EQ(texts(*spool, 0, 2), R"(1{"n":1} 2{"n":2} )");
  EXPECT_EQ(texts(*spool, 2, 1000, 15), R"(3{"n":3} 4{"n":4} )");
  EXPECT_EQ(texts(*spool, 4, 1000, 1), R"(5{"n":5} )");  // at least one
  EXPECT_EQ(texts(*spool, 0, 1), R"(1{"n":1} )");        // back to the start
  EXPECT_EQ(texts(*spool, 8), R"(9{"n":9} )");           // ahead
  EXPECT_EQ(texts(*spool, 9), "");
}

TEST_F(SpoolTest, ATornTailIsCutWhereverItIsTorn) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 2)));
  std::string path = spool->path();
  spool.reset();
  auto whole = std::filesystem::file_size(path);
  spool = reopen(path);
  ASSERT_TRUE(spool->append({std::string(200, 'x')}));
  spool.reset();
  auto size = std::filesystem::file_size(path);
  for (auto cut = size - 1; cut > whole; cut -= 7) {
    std::filesystem::resize_file(path, cut);
    spool = reopen(path);
    EXPECT_EQ(spool->cut_bytes(), cut - whole);
    EXPECT_EQ(spool->last(), 2u);
    ASSERT_TRUE(spool->append({std::string(200, 'x')}));
    EXPECT_EQ(spool->last(), 3u);
    spool.reset();
  }
}

TEST_F(SpoolTest, ADamagedRecordEndsTheSpool) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 3)));
  std::string path = spool->path();
  spool.reset();
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-3, std::ios::end);
    file.put('!');
  }
  spool = reopen(path);
  EXPECT_EQ(spool->last(), 2u);
  EXPECT_GT(spool->cut_bytes(), 0u);
}

TEST_F(SpoolTest, StartsOverWhenAllIsDelivered) {
  auto spool = create(kSpoolBytes, 500);
  ASSERT_TRUE(spool->append(numbered(1, 100)));
  ASSERT_TRUE(spool->set_delivered(100));
  EXPECT_LT(std::filesystem::file_size(spool->path()), 200u);
  EXPECT_EQ(spool->first(), 101u);
  ASSERT_TRUE(spool->append(numbered(101, 101)));
  EXPECT_EQ(texts(*spool, 100), R"(101{"n":101} )");
  std::string path = spool->path();
  spool.reset();
  spool = reopen(path);
  EXPECT_EQ(spool->last(), 101u);
  EXPECT_EQ(spool->delivered(), 100u);
}

TEST_F(SpoolTest, IsBoundedAndRoomComesBackWithDelivery) {
  auto spool = create(3'000);
  int appended = 0;
  while (spool->append(numbered(appended + 1, appended + 1))) ASSERT_LT(++appended, 1'000);
  EXPECT_EQ(spool->append(numbered(1, 1)).error().reason, "spool_full");
  EXPECT_EQ(spool->last(), static_cast<std::uint64_t>(appended));
  ASSERT_TRUE(spool->set_delivered(static_cast<std::uint64_t>(appended) / 2));
  ASSERT_TRUE(spool->append(numbered(appended + 1, appended + 1)));
  EXPECT_EQ(texts(*spool, static_cast<std::uint64_t>(appended) - 1, 1),
            std::to_string(appended) + "{\"n\":" + std::to_string(appended) + "} ");
}

TEST_F(SpoolTest, WhatIsHeldInMemoryIsReadLikeTheRestAndWrittenWithTheNext) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 2)));
  spool->hold(numbered(3, 5));
  EXPECT_EQ(spool->last(), 5u);
  EXPECT_EQ(spool->undelivered(), 5u);
  EXPECT_EQ(texts(*spool, 0), "1{\"n\":1} 2{\"n\":2} 3{\"n\":3} 4{\"n\":4} 5{\"n\":5} ");
  EXPECT_EQ(texts(*spool, 1, 2), "2{\"n\":2} 3{\"n\":3} ");
  ASSERT_TRUE(spool->replace(5, "{\"other\":5}"));
  ASSERT_TRUE(spool->set_delivered(4)) << "two of them were never in the file";
  EXPECT_EQ(texts(*spool, 4), "5{\"other\":5} ");
  ASSERT_TRUE(spool->append(numbered(6, 6)));
  EXPECT_FALSE(spool->holds());
  EXPECT_EQ(texts(*spool, 4), "5{\"other\":5} 6{\"n\":6} ");
  EXPECT_EQ(spool->first(), 5u);
  std::string path = spool->path();
  spool.reset();
  spool = reopen(path);
  EXPECT_EQ(spool->delivered(), 4u);
  EXPECT_EQ(texts(*spool, 4), "5{\"other\":5} 6{\"n\":6} ");
  EXPECT_EQ(spool->first(), 5u);
}

TEST_F(SpoolTest, ThereIsAlwaysRoomForTheLastWords) {
  auto spool = create(3'000);
  while (spool->append(numbered(1, 1))) {
  }
  std::uint64_t kept = spool->last();
  spool->hold(numbered(1, 7));
  EXPECT_EQ(spool->drop_held().size(), 7u);
  ASSERT_TRUE(spool->append_last({"{\"end\":true}"}));
  EXPECT_EQ(texts(*spool, kept), std::to_string(kept + 1) + "{\"end\":true} ");
}

// The room is reserved before the disk is full.
TEST_F(SpoolTest, TheRoomForTheLastWordsIsReserved) {
  auto spool = create();
  Descriptor probe(::open((directory_ + "/probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (::fallocate(probe.get(), FALLOC_FL_KEEP_SIZE, 0, 1) != 0) {
    LEAVE_OUT_WITHOUT("fallocate") << "this file system reserves no room";
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(spool->append({"{\"text\":\"" + std::string(kSpoolRoomBytes, 'x') + "\"}"}));
    struct stat facts{};
    ASSERT_EQ(::stat(spool->path().c_str(), &facts), 0);
    EXPECT_GE(facts.st_blocks * 512, facts.st_size + static_cast<off_t>(kSpoolRoomBytes));
  }
}

TEST_F(SpoolTest, AnEarlierSpoolHasNoLease) {
  auto spool = Spool::create(directory_, {"task-1", "runner-1", "http://here", 42});
  ASSERT_TRUE(spool);
  std::string path = (*spool)->path();
  spool->reset();
  EXPECT_EQ(reopen(path)->identity().lease, 42);
  std::filesystem::remove(path);
  std::string bytes;
  append_record(bytes, {SpoolKind::identity, 0, "task-1\nrunner-1\nhttp://here"});
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(reopen(path)->identity().lease, 0);
  EXPECT_EQ(reopen(path)->identity().destination, "http://here");
}

TEST_F(SpoolTest, AnotherProducerStartsAtOne) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 5)));
  ASSERT_TRUE(spool->replace(5, "{\"other\":5}"));
  ASSERT_TRUE(spool->set_delivered(3));
  ASSERT_TRUE(spool->change_producer("runner-2"));
  EXPECT_EQ(texts(*spool, 0), R"(1{"n":4} 2{"other":5} )");
  std::string path = spool->path();
  spool.reset();
  spool = reopen(path);
  EXPECT_EQ(spool->identity().producer, "runner-2");
  EXPECT_EQ(spool->undelivered(), 2u);
  auto events = spool->read_after(1, 1, 1);
  EXPECT_TRUE((*events)[0].replaced);
}

TEST_F(SpoolTest, OnlyOneDeliversIt) {
  auto spool = create();
  ASSERT_TRUE(spool->append(numbered(1, 1)));
  EXPECT_EQ(Spool::open(spool->path()).error().reason, "spool_in_use");
  auto pending = Spool::pending(directory_);
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_TRUE(pending[0].in_use);
}

TEST_F(SpoolTest, PendingListsWhatIsLeftAndRemovesWhatIsNot) {
  auto left = create();
  ASSERT_TRUE(left->append(numbered(1, 4)));
  ASSERT_TRUE(left->set_delivered(1));
  auto done = Spool::create(directory_, {"task-2", "runner-9", ""});
  ASSERT_TRUE((*done)->append(numbered(1, 1)));
  ASSERT_TRUE((*done)->set_delivered(1));
  std::ofstream(directory_ + "/notes.txt") << "not a spool";
  left.reset();
  done->reset();
  auto pending = Spool::pending(directory_);
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0].identity.task, "task-1");
  EXPECT_EQ(pending[0].events, 3u);
  EXPECT_FALSE(pending[0].in_use);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 2);
  EXPECT_TRUE(Spool::pending(directory_ + "/nowhere").empty());
}

}  // namespace
}  // namespace shepherd
