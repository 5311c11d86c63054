// The fifth part of the suite: leases.
#pragma once

#include "conformance/event_store_conformance_changes.h"

namespace shepherd::testing {

inline Lease lease_on(const std::string& task, const std::string& runner, std::uint64_t epoch, std::int64_t until_ms) {
  return {{LeaseKind::task, task, runner}, epoch, until_ms, false, ""};
}

// Runs one operation in a transaction of its own.
inline void in_txn(EventStore& store, const std::function<void(WriteTxn&)>& work) {
  auto commit = store.write(work);
  ASSERT_TRUE(commit) << commit.error().message;
}

TEST_P(EventStoreConformance, LeasesAreKeptByKindNameAndHolder) {
  Lease task = lease_on("t", "r1", 3, 1'000);
  Lease here{{LeaseKind::runner, "t", ""}, 0, 2'000, true, R"({"agents":["claude"]})"};
  Lease one{{LeaseKind::taker, "", "a"}, 0, 3'000, false, ""}, two{{LeaseKind::taker, "", "b"}, 0, 500, false, ""};
  make_task("t");
  in_txn(store(), [&](WriteTxn& txn) {
    for (const Lease& each : {two, here, task, one}) ASSERT_TRUE(txn.put_lease(each));
    EXPECT_EQ(*txn.leases(LeaseKind::taker, ""), (std::vector{one, two})) << "its own changes";
    EXPECT_EQ(*txn.leases_over(2'000, 10), (std::vector{task, here, two})) << "its end has come at its very time";
    EXPECT_EQ(txn.leases_over(2'000, 2)->size(), 2U);
    EXPECT_TRUE(txn.leases_over(499, 10)->empty());
  });
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(*store().leases(LeaseKind::task), std::vector{task});
    EXPECT_EQ(*store().leases(LeaseKind::runner), std::vector{here});
    EXPECT_EQ(*store().leases(LeaseKind::taker), (std::vector{one, two}));
    EXPECT_EQ(*store().leases(LeaseKind::runner, "t"), std::vector{here});
    EXPECT_TRUE(store().leases(LeaseKind::runner, "u")->empty());
    reopen();
  }
  task.epoch = 9;
  in_txn(store(), [&](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_lease(task));
    ASSERT_TRUE(txn.end_lease(one.key));
    ASSERT_TRUE(txn.end_lease({LeaseKind::taker, "", "nobody"}));
    EXPECT_EQ(*txn.leases(LeaseKind::taker, ""), std::vector{two});
  });
  EXPECT_EQ(*store().leases(LeaseKind::task, "t"), std::vector{task}) << "one for each key";
  EXPECT_EQ(*store().leases(LeaseKind::taker), std::vector{two});
}

TEST_P(EventStoreConformance, ARenewalMovesTheEndOfThisLeaseAlone) {
  make_task("t");
  Lease lease = lease_on("t", "r1", 3, 1'000);
  in_txn(store(), [&](WriteTxn& txn) { ASSERT_TRUE(txn.put_lease(lease)); });
  auto renew = [&](const std::string& runner, std::uint64_t epoch, std::int64_t until_ms, bool heard) {
    std::optional<bool> renewed;
    in_txn(store(), [&](WriteTxn& txn) {
      renewed = *txn.renew_lease({{LeaseKind::task, "t", runner}, epoch, until_ms, heard});
    });
    return *renewed;
  };
  EXPECT_TRUE(renew("r1", 3, 2'000, false));
  lease.until_ms = 2'000;
  EXPECT_EQ(*store().leases(LeaseKind::task), std::vector{lease});
  EXPECT_FALSE(renew("r1", 4, 9'000, true));
  EXPECT_FALSE(renew("r2", 3, 9'000, true));
  EXPECT_EQ(*store().leases(LeaseKind::task), std::vector{lease}) << "another lease's renewal changes nothing";
  EXPECT_TRUE(renew("r1", 3, 1'500, true));
  lease.heard = true;
  EXPECT_EQ(*store().leases(LeaseKind::task), std::vector{lease}) << "an end never moves back";
  EXPECT_TRUE(renew("r1", 3, 2'500, false));
  EXPECT_TRUE(store().leases(LeaseKind::task)->front().heard) << "who was heard of stays so";
}

TEST_P(EventStoreConformance, LeasesGivenAndEndedAreInTheStreamAndRenewalsAreNot) {
  make_task("t");
  Place start = *store().newest_place();
  Lease lease = lease_on("t", "r1", 1, 1'000);
  in_txn(store(), [&](WriteTxn& txn) {
    ASSERT_TRUE(txn.append(request("t", Batch().log("claimed"))));
    ASSERT_TRUE(txn.put_lease(lease));
  });
  in_txn(store(), [&](WriteTxn& txn) { ASSERT_TRUE(*txn.renew_lease({lease.key, 1, 2'000})); });
  in_txn(store(), [&](WriteTxn& txn) { ASSERT_TRUE(txn.end_lease(lease.key)); });
  in_txn(store(), [&](WriteTxn& txn) { ASSERT_TRUE(txn.end_lease(lease.key)); });
  EXPECT_EQ(follow_all(store(), start, 100), (std::vector<std::string>{"t 1-1", "lease task/t", "lease task/t"}));
}

TEST_P(EventStoreConformance, ADeletedTaskLeavesNoLeaseOnIt) {
  make_task("t");
  make_task("u");
  in_txn(store(), [&](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_lease(lease_on("t", "r1", 1, 1'000)));
    ASSERT_TRUE(txn.put_lease(lease_on("u", "r1", 1, 1'000)));
    ASSERT_TRUE(txn.put_lease({{LeaseKind::taker, "t", "a"}, 0, 1'000, false, ""}));
    ASSERT_TRUE(txn.put_lease({{LeaseKind::runner, "t", ""}, 0, 1'000, false, ""}));
  });
  in_txn(store(), [&](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_lease({{LeaseKind::taker, "t", "b"}, 0, 1'000, false, ""}));
    ASSERT_TRUE(txn.delete_task("t"));
    EXPECT_TRUE(txn.leases(LeaseKind::task, "t")->empty());
  });
  ASSERT_EQ(store().leases(LeaseKind::task)->size(), 1U);
  EXPECT_EQ(store().leases(LeaseKind::task)->front().key.name, "u");
  EXPECT_TRUE(store().leases(LeaseKind::taker)->empty());
  EXPECT_EQ(store().leases(LeaseKind::runner)->size(), 1U) << "a runner's name is no task's";
}

// Two of one transaction, after a restart, after a deletion, and after a program that gave the number of an event.
TEST_P(EventStoreConformance, AnEpochIsGivenOnce) {
  std::vector<std::uint64_t> given;
  auto give = [&](WriteTxn& txn) {
    auto epoch = txn.next_epoch();
    ASSERT_TRUE(epoch) << epoch.error().message;
    given.push_back(*epoch);
  };
  Place start = *store().newest_place();
  in_txn(store(), [&](WriteTxn& txn) {
    give(txn);
    give(txn);
  });
  EXPECT_EQ(*store().newest_place(), start) << "nobody follows it";
  make_task("t");
  Batch many;
  for (int i = 0; i < 20; ++i) many.log("event " + std::to_string(i));
  in_txn(store(), [&](WriteTxn& txn) {
    EXPECT_EQ(txn.position(), start.position);
    ASSERT_TRUE(txn.append(request("t", many)));
  });
  in_txn(store(), [&](WriteTxn& txn) {
    EXPECT_EQ(txn.position(), start.position + 20);
    give(txn);
    EXPECT_GT(given.back(), txn.row("t")->state.last_sequence) << "an earlier program may have given each of these";
    ASSERT_TRUE(txn.delete_task("t"));
    give(txn);
  });
  reopen();
  in_txn(store(), give);
  in_txn(store(), give);
  for (std::size_t i = 1; i < given.size(); ++i) EXPECT_GT(given[i], given[i - 1]);
}

TEST_P(EventStoreConformance, AnOperationThatFailsLeavesLeasesAsTheyWere) {
  make_task("t");
  Lease kept = lease_on("t", "r1", 1, 1'000);
  in_txn(store(), [&](WriteTxn& txn) { ASSERT_TRUE(txn.put_lease(kept)); });
  Place start = *store().newest_place();
  in_txn(store(), [&](WriteTxn& txn) {
    auto done = txn.atomically([&](WriteTxn& part) -> Result<void> {
      EXPECT_TRUE(*part.renew_lease({kept.key, 1, 9'000}));
      EXPECT_TRUE(part.put_lease(lease_on("t", "r2", 2, 9'000)));
      EXPECT_TRUE(part.end_lease(kept.key));
      return fail(ErrorCode::conflict, "no", "no");
    });
    EXPECT_FALSE(done);
    EXPECT_EQ(*txn.leases(LeaseKind::task, "t"), std::vector{kept});
  });
  EXPECT_EQ(*store().leases(LeaseKind::task), std::vector{kept});
  EXPECT_EQ(*store().newest_place(), start);
}

}  // namespace shepherd::testing
