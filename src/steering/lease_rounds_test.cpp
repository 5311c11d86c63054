#include "steering/lease_rounds.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "journal/journal_fixture.h"

namespace shepherd {
namespace {

constexpr std::int64_t kPeriodMs = 30'000, kRoundMs = 3'000;

class LeaseRoundsTest : public JournalFixture {
 protected:
  void SetUp() override {
    pass_ms(1'000);
    give(kLease, 7);
    round();  // what the clock counted so far
  }
  void give(const LeaseKey& key, std::uint64_t epoch) {
    std::int64_t until_ms = service_.now_ms() + kPeriodMs;
    journal_.write([=](WriteTxn& txn) { return txn.put_lease({key, epoch, until_ms, false, ""}); },
                   [](Result<void>) {});
    rounds_.watch(key, until_ms);
    settle();
  }
  // One tick after the other, as a responsive server has them.
  void pass_ms(std::int64_t ms) {
    for (; ms > 0; ms -= 1'000) {
      clock_.advance_ms(std::min<std::int64_t>(ms, 1'000));
      round();
    }
  }
  void round() {
    rounds_.tick([this](const LeaseRound& found) {
      for (const Lease& lease : found.over) over_.push_back(lease.key.name);
    });
    settle();
  }
  Lease stored() { return journal_.store().leases(kLease.kind, kLease.name)->front(); }

  const LeaseKey kLease{LeaseKind::task, "t", "r1"};
  ServiceClock service_{clock_};
  LeaseRounds rounds_{journal_, service_, kRoundMs, false};
  std::vector<std::string> over_;
};

TEST_F(LeaseRoundsTest, ARenewalIsWrittenByTheNextRound) {
  pass_ms(10'000);
  std::int64_t heard_ms = service_.now_ms();
  rounds_.renew(kLease, 7, kPeriodMs);
  pass_ms(kRoundMs);
  EXPECT_EQ(stored().until_ms, heard_ms + kPeriodMs);
  EXPECT_TRUE(stored().heard);
}

TEST_F(LeaseRoundsTest, TheRenewalsOfAFailedRoundAreWrittenByALaterOne) {
  pass_ms(10'000);
  std::int64_t before_ms = stored().until_ms, heard_ms = service_.now_ms();
  rounds_.renew(kLease, 7, kPeriodMs);
  fault_ = Fault::fail_before_commit;
  pass_ms(kRoundMs);
  EXPECT_EQ(stored().until_ms, before_ms);
  fault_ = Fault::none;
  pass_ms(kRoundMs);
  EXPECT_EQ(stored().until_ms, heard_ms + kPeriodMs);
  pass_ms(heard_ms + kPeriodMs - service_.now_ms() - 1);
  EXPECT_TRUE(over_.empty());
}

// The holder was heard again while the round was under way.
TEST_F(LeaseRoundsTest, AFailedRoundTakesNothingFromANewerRenewal) {
  pass_ms(10'000);
  rounds_.renew(kLease, 7, kPeriodMs);
  fault_ = Fault::fail_before_commit;
  clock_.advance_ms(kRoundMs);
  rounds_.tick([](const LeaseRound&) {});
  clock_.advance_ms(500);
  std::int64_t heard_ms = service_.now_ms();
  rounds_.renew(kLease, 7, kPeriodMs);
  settle();
  fault_ = Fault::none;
  pass_ms(kRoundMs);
  EXPECT_EQ(stored().until_ms, heard_ms + kPeriodMs);
}

// A holder that says every two seconds that it is there, for a minute.
TEST_F(LeaseRoundsTest, RepeatedRenewalsCostFewCommitsAndLoseNoTime) {
  std::uint64_t before = writes_;
  for (int i = 0; i < 30; ++i) {
    rounds_.renew(kLease, 7, kPeriodMs);
    pass_ms(2'000);
    EXPECT_GE(stored().until_ms - service_.now_ms(), kPeriodMs * 2 / 3 - kRoundMs - 2'000);
  }
  EXPECT_LE(writes_ - before, 8U) << "the first one, and about one for each third of the period";
  std::int64_t heard_ms = service_.now_ms() - 2'000;
  pass_ms(heard_ms + kPeriodMs - service_.now_ms() - 1);
  EXPECT_TRUE(over_.empty()) << "what was noted counts to its end";
  pass_ms(kRoundMs + 1'000);
  EXPECT_FALSE(over_.empty());
}

TEST_F(LeaseRoundsTest, TheFirstRenewalOfANewLeaseDoesNotWait) {
  rounds_.renew(kLease, 7, kPeriodMs);
  pass_ms(kRoundMs);
  give(kLease, 9);
  rounds_.renew(kLease, 9, kPeriodMs);
  pass_ms(kRoundMs);
  EXPECT_TRUE(stored().heard) << "another lease of the same runner";
}

}  // namespace
}  // namespace shepherd
