#include "steering/claims.h"

#include "steering/limits.h"
#include "steering/steering_fixture.h"

namespace shepherd {
namespace {

class ClaimsTest : public SteeringFixture {
 protected:
  // Returns "kept", or the reason of the refusal.
  std::string renewed(const std::string& task, std::uint64_t epoch, const std::string& runner = {}) {
    auto row = journal_.store().row(task);
    Result<void> answer = steering_->leases().renew(*row, epoch, runner);
    return answer ? "kept" : answer.error().reason;
  }
  // The runner that has the task by the store's leases; empty if there is none.
  std::string holder_of(const std::string& task) {
    auto leases = journal_.store().leases(LeaseKind::task, task);
    return leases->empty() ? "" : leases->front().key.holder;
  }
};

constexpr const char* kClaude = R"(,"agent":"claude")";
constexpr std::int64_t kLeaseMs = kLeaseSeconds * 1'000;

TEST_F(ClaimsTest, OldestFirstAndEachOnce) {
  create("old", kClaude);
  clock_.advance_ms(5);
  create("new", kClaude);
  auto first = claim(runner("r1"));
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->task, "old");
  EXPECT_GE((*first)->epoch, 1U);
  EXPECT_EQ((*claim(runner("r2")))->task, "new");
  EXPECT_FALSE(*claim(runner("r3")));
  EXPECT_EQ(state("old").state, State::starting);
  EXPECT_EQ(state("old").runner, "r1");
  EXPECT_EQ(log_of("old"), "status");
}

// News of a task may come with the row of the one that replaced it.
TEST_F(ClaimsTest, AnOfferReplacesThatOfADeletedTask) {
  create("t", R"(,"agent":"claude")");
  TaskRow later = *journal_.store().row("t");
  ++later.created_ms;
  steering_->claims().offer(later);
  EXPECT_EQ((*claim(runner("r")))->task, "t");
  EXPECT_FALSE(claim(runner("r"))->has_value());
}

TEST_F(ClaimsTest, OnlyWhatSuits) {
  create("external");
  create("text", R"(,"agent":"text")");
  create("theirs", R"(,"agent":"claude","runner":"r9")");
  create("labelled", R"(,"agent":"claude","labels":{"gpu":"yes","zone":"b"})");
  ClaimRequest gpu = runner("r1");
  gpu.labels = {{"gpu", "no"}};
  EXPECT_FALSE(*claim(gpu));
  gpu.labels = {{"gpu", "yes"}};
  EXPECT_EQ((*claim(gpu))->task, "labelled");
  EXPECT_FALSE(*claim(runner("r1"))) << "the rest is for another runner, another agent, or nobody";
  EXPECT_EQ((*claim(runner("r9")))->task, "theirs");
}

TEST_F(ClaimsTest, ANamedTaskIsHadAgainByItsRunner) {
  create("t", R"(,"agent":"claude","runner":"r1")");
  EXPECT_EQ(claim(runner("r2", "t")).error().reason, "not_claimable");
  auto first = claim(runner("r1", "t"));
  auto again = claim(runner("r1", "t"));
  ASSERT_TRUE(first && *first && again && *again);
  EXPECT_EQ((*again)->epoch, (*first)->epoch);
  EXPECT_EQ(log_of("t"), "status") << "claimed once";
  EXPECT_EQ(claim(runner("r2", "t")).error().reason, "already_claimed");
  EXPECT_EQ(claim(runner("r2", "nobody")).error().reason, "unknown_task");
  ASSERT_TRUE(post("t", R"({"type":"status","data":{"state":"completed"}})"));
  EXPECT_EQ(claim(runner("r1", "t")).error().reason, "task_ended");
}

TEST_F(ClaimsTest, AParkedClaimGetsTheNextTaskThatSuits) {
  std::vector<std::string> got;
  auto park = [&](const std::string& id, std::int64_t seconds) {
    ClaimRequest request = runner(id);
    request.wait_seconds = seconds;
    steering_->claims().claim(request, [&got, id](Result<std::optional<Claim>> claimed) {
      ASSERT_TRUE(claimed);
      got.push_back(id + ":" + (*claimed ? (*claimed)->task : "nothing"));
    });
    settle();
  };
  park("r1", 10);
  park("r2", 20);
  EXPECT_TRUE(got.empty());
  create("text", R"(,"agent":"text")");
  EXPECT_TRUE(got.empty());
  create("t", kClaude);
  EXPECT_EQ(got, (std::vector<std::string>{"r1:t"}));
  pass_ms(20'000);
  EXPECT_EQ(got.back(), "r2:nothing");
  park("r3", 10);
  steering_->claims().stop();
  EXPECT_EQ(got.back(), "r3:nothing");
}

TEST_F(ClaimsTest, ARunnerThatGoesSilentIsLost) {
  create("t", kClaude);
  auto claimed = *claim(runner("r1"));
  ASSERT_TRUE(claimed);
  pass_ms(kLeaseMs - 1);
  EXPECT_EQ(renewed("t", claimed->epoch, "r1"), "kept");
  EXPECT_EQ(renewed("t", claimed->epoch + 1), "lease_lost");
  EXPECT_EQ(renewed("t", claimed->epoch, "r2"), "lease_lost");
  pass_ms(kLeaseMs - 1);
  EXPECT_EQ(state("t").state, State::starting);
  steering_->leases().touch("t");
  pass_ms(kLeaseMs - 1);
  EXPECT_EQ(state("t").state, State::starting) << "what it posted kept its lease";
  pass_ms(1);
  EXPECT_EQ(state("t").state, State::failed);
  EXPECT_EQ(state("t").error, "runner lost");
  EXPECT_TRUE(state("t").inferred_end);
  EXPECT_EQ(renewed("t", claimed->epoch), "lease_lost");
  EXPECT_TRUE(post("t", R"({"type":"log","summary":"still here"})")) << "what it did is kept";
  EXPECT_EQ(state("t").state, State::failed);
}

// A claim is decided by the log alone. Between the end of a lease and the event that says so, the task has its runner.
TEST_F(ClaimsTest, ATaskIsFreeOnlyWhenTheLogSaysSo) {
  create("t", kClaude);
  ASSERT_TRUE(*claim(runner("r1")));
  std::string early;
  steering_->claims().claim(runner("r2", "t"), [&](Result<std::optional<Claim>> claimed) {
    early = claimed ? "claimed" : claimed.error().reason;
  });
  for (std::int64_t passed = 0; passed < kLeaseMs; passed += kMostLeaseStep.count()) {
    clock_.advance_ms(kMostLeaseStep.count());
    steering_->tick();
  }
  settle();
  EXPECT_EQ(early, "already_claimed");
  EXPECT_EQ(state("t").state, State::queued) << "r1 never reported";
  auto second = *claim(runner("r2", "t"));
  ASSERT_TRUE(second);
  EXPECT_EQ(state("t").runner, "r2");
  EXPECT_EQ(renewed("t", second->epoch, "r2"), "kept");
}

TEST_F(ClaimsTest, AClaimWhoseAnswerWasLostGoesToAnother) {
  create("t", kClaude);
  auto first = *claim(runner("r1"));
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").state, State::queued) << "nobody was heard of: nothing was begun";
  EXPECT_EQ(state("t").message, "r1 took it and did not report again");
  auto second = *claim(runner("r2"));
  ASSERT_TRUE(second);
  EXPECT_GT(second->epoch, first->epoch);
  EXPECT_EQ(renewed("t", first->epoch, "r1"), "lease_lost");
  pass_ms(kLeaseMs);
  ASSERT_TRUE(*claim(runner("r3")));
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").state, State::failed) << "not for ever";
}

// Its log is the same up to the claim, so a stale runner of the deleted task would pass for the new one's.
TEST_F(ClaimsTest, ATaskThatIsCreatedAgainHasAnotherLease) {
  create("t", kClaude);
  auto first = *claim(runner("r1"));
  ASSERT_TRUE(first);
  journal_.delete_task("t", [](const Result<void>& deleted) { ASSERT_TRUE(deleted); });
  settle();
  create("t", kClaude);
  auto second = *claim(runner("r2"));
  ASSERT_TRUE(second);
  EXPECT_GT(second->epoch, first->epoch);
  EXPECT_EQ(renewed("t", first->epoch, "r1"), "lease_lost");
  auto stale = append("t", R"({"type":"output","summary":"of the deleted task"})", false, LeaseFence{first->epoch});
  EXPECT_TRUE(!stale && stale.error().reason == "lease_lost");
  EXPECT_EQ(log_of("t"), "status");
}

// The round that found it over is older than the renewal.
TEST_F(ClaimsTest, ALeaseThatWasRenewedMeanwhileIsNotLost) {
  create("t", kClaude);
  auto claimed = *claim(runner("r1"));
  ASSERT_TRUE(post("t", R"({"type":"thinking","summary":"hm"})"));
  Lease found = journal_.store().leases(LeaseKind::task, "t")->front();
  bool lost = false;
  steering_->leases().lose(found, [&] { lost = true; });
  settle();
  EXPECT_FALSE(lost);
  EXPECT_EQ(state("t").state, State::running);
  EXPECT_EQ(holder_of("t"), "r1");
  EXPECT_EQ(renewed("t", claimed->epoch, "r1"), "kept");
  found.epoch -= 1;
  pass_ms(kLeaseMs - 1);
  steering_->leases().lose(found, [&] { lost = true; });
  settle();
  EXPECT_FALSE(lost) << "another lease";
}

// The store could not write the end of the lease: the lease stays until it can.
TEST_F(ClaimsTest, ALostLeaseThatCannotBeWrittenIsLostLater) {
  create("t", kClaude);
  auto claimed = *claim(runner("r1"));
  ASSERT_EQ(renewed("t", claimed->epoch, "r1"), "kept");
  pass_ms(kLeaseMs / 2);
  fault_ = Fault::fail_before_commit;
  pass_ms(kLeaseMs);
  fault_ = Fault::none;
  EXPECT_EQ(state("t").state, State::starting);
  EXPECT_EQ(holder_of("t"), "r1");
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").state, State::failed) << "its runner was heard of: it goes to nobody else";
  EXPECT_EQ(state("t").error, "runner lost");
}

TEST_F(ClaimsTest, StopOfATaskBetweenTwoRunnersCancelsIt) {
  create("t", kClaude);
  ASSERT_TRUE(*claim(runner("r1")));
  pass_ms(kLeaseMs);
  EXPECT_EQ(outcome("t", R"({"id":"s","kind":"steer","content":"x"})"), "refused/no_runner");
  EXPECT_EQ(outcome("t", R"({"id":"stop","kind":"stop"})"), "acknowledged");
  EXPECT_EQ(state("t").state, State::cancelled);
  EXPECT_FALSE(*claim(runner("r2")));
}

TEST_F(ClaimsTest, ARestartGivesEveryLeaseAFullPeriod) {
  create("queued", kClaude);
  clock_.advance_ms(1);
  create("running", kClaude);
  auto claimed = *claim(runner("r1", "running"));
  ASSERT_TRUE(post("running", R"({"type":"thinking","summary":"hm"})"));
  pass_ms(kLeaseMs - 1);
  restart();
  pass_ms(kLeaseMs - 1);
  EXPECT_EQ(state("running").state, State::running);
  EXPECT_EQ(renewed("running", claimed->epoch, "r1"), "kept");
  EXPECT_EQ((*claim(runner("r2")))->task, "queued") << "what waited still waits";
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("running").state, State::failed);
}

// Stopped by a signal or with the machine: the server received nothing from its runners meanwhile.
TEST_F(ClaimsTest, AServerThatStoodStillLosesNoRunner) {
  create("t", kClaude);
  auto claimed = *claim(runner("r1"));
  ASSERT_TRUE(post("t", R"({"type":"thinking","summary":"hm"})"));
  clock_.advance_ms(40 * kLeaseMs);
  steering_->tick();
  settle();
  EXPECT_EQ(state("t").state, State::running);
  EXPECT_EQ(renewed("t", claimed->epoch, "r1"), "kept");
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").error, "runner lost") << "its clock goes on";
}

TEST_F(ClaimsTest, TheClaimOfARunnerThatHasGoneTakesNoTask) {
  bool gone = false;
  std::vector<std::string> got;
  auto park = [&](const std::string& id, Claims::PeerGone peer_gone) {
    ClaimRequest request = runner(id);
    request.wait_seconds = 20;
    steering_->claims().claim(
        request,
        [&got, id](Result<std::optional<Claim>> claimed) {
          got.push_back(id + ":" + (*claimed ? (*claimed)->task : "nothing"));
        },
        std::move(peer_gone));
    settle();
  };
  park("dead", [&] { return gone; });
  park("live", {});
  gone = true;
  create("t", kClaude);
  EXPECT_EQ(got, (std::vector<std::string>{"dead:nothing", "live:t"}));
  EXPECT_EQ(state("t").runner, "live");
  got.clear();
  gone = false;
  park("dead", [&] { return gone; });
  gone = true;
  steering_->tick();
  EXPECT_EQ(got, std::vector<std::string>{"dead:nothing"}) << "it waits no longer";
  steering_->claims().stop();  // answers a claim that unexpectedly still waits, while `got` exists
}

TEST_F(ClaimsTest, AClaimAnsweredToNobodyGoesBackIntoTheQueueAtOnce) {
  create("t", kClaude);
  steering_->claims().claim(runner("dead"), [](Result<std::optional<Claim>>) {}, [] { return true; });
  settle();
  EXPECT_EQ(state("t").state, State::queued);
  EXPECT_EQ(holder_of("t"), "");
  auto second = *claim(runner("r2"));
  ASSERT_TRUE(second);
  EXPECT_EQ(state("t").runner, "r2");
}

TEST_F(ClaimsTest, WhatOnlyALostRunnerMayRunDoesNotWaitForEver) {
  create("t", R"(,"agent":"claude","runner":"run-1")");
  ASSERT_TRUE(*claim(runner("run-1", "t")));
  restart();
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").state, State::failed);
  EXPECT_EQ(state("t").error, "runner lost");
}

TEST_F(ClaimsTest, WhatWasGivenBackWaitsAfterARestartToo) {
  create("t", kClaude);
  auto first = *claim(runner("r1"));
  pass_ms(kLeaseMs);
  restart();
  EXPECT_EQ(state("t").state, State::queued);
  EXPECT_EQ(renewed("t", first->epoch, "r1"), "lease_lost");
  EXPECT_EQ((*claim(runner("r2")))->task, "t");
}

TEST_F(ClaimsTest, SaysWhyNobodyTakesATask) {
  auto why = [&](const std::string& id) { return steering_->claims().why_waiting(journal_.store().task(id)->spec); };
  create("external");
  create("gpt", R"(,"agent":"gpt")");
  create("pinned", R"(,"agent":"claude","runner":"r9")");
  EXPECT_EQ(why("external"), "") << "somebody posts its events";
  EXPECT_EQ(why("gpt").substr(0, 22), "no runner is connected");
  ASSERT_FALSE(*claim(runner("r1")));
  EXPECT_EQ(why("gpt"), "no connected runner takes agent gpt; known: claude");
  EXPECT_EQ(why("pinned"), "waits for the runner r9, which is not connected");
  create("claude", kClaude);
  EXPECT_EQ(why("claude"), "");
  auto claimed = *claim(runner("r1"));
  create("next", kClaude);
  for (int i = 0; i < 10; ++i) {
    pass_ms(kLeaseMs / 2);
    ASSERT_EQ(renewed("claude", claimed->epoch, "r1"), "kept");
  }
  EXPECT_EQ(why("next"), "") << "it is busy, not gone";
  ASSERT_TRUE(post("claude", R"({"type":"status","data":{"state":"completed"}})"));
  pass_ms(kRunnerSeenSeconds * 1'000 + 1'000);
  EXPECT_EQ(why("next").substr(0, 22), "no runner is connected");
}

// A runner is there because it says so, also to the next server process, and leaves when it says so.
TEST_F(ClaimsTest, ARunnerIsThereByItsOwnWord) {
  auto why = [&] { return steering_->claims().why_waiting(journal_.store().task("t")->spec); };
  create("t", kClaude);
  RunnerAbout about;
  about.agents = {"claude"};
  about.slots = 4;
  steering_->runners().report("r1", about);
  EXPECT_EQ(why(), "");
  settle();
  restart();
  EXPECT_EQ(why(), "") << "the store has its word";
  ClaimRequest asks = runner("r1");
  asks.labels = {{"zone", "b"}};
  ASSERT_FALSE(*claim(asks));
  auto kept = decode_runner_about(journal_.store().leases(LeaseKind::runner)->at(0).note);
  EXPECT_EQ(kept->slots, 4) << "a request for work says nothing about slots";
  EXPECT_EQ(kept->labels.at("zone"), "b");
  steering_->runners().report("r1", about);
  for (int i = 0; i < 10; ++i) {
    pass_ms(kRunnerSeenSeconds * 1'000 - 1);
    ASSERT_EQ(why(), "");
    steering_->runners().report("r1", about);
  }
  bool gone = false;
  steering_->runners().leaves("r1", [&](Result<void> left) { gone = left.has_value(); });
  settle();
  EXPECT_TRUE(gone);
  EXPECT_EQ(why().substr(0, 22), "no runner is connected");
  EXPECT_TRUE(journal_.store().leases(LeaseKind::runner)->empty());
}

TEST_F(ClaimsTest, TheTokenIsForTheHolderOfTheLease) {
  create("t", kClaude);
  auto refusal = [&](std::optional<std::uint64_t> epoch, const std::string& given) {
    auto may = may_have_token(*journal_.store().row("t"), epoch, given);
    return may ? "given to " + std::to_string(*may) : may.error().reason;
  };
  EXPECT_EQ(refusal(std::nullopt, ""), "given to 0");
  EXPECT_EQ(refusal(std::nullopt, "0"), "token_taken");
  auto claimed = *claim(runner("r1"));
  EXPECT_EQ(refusal(std::nullopt, "0"), "lease_needed");
  EXPECT_EQ(refusal(claimed->epoch + 1, "0"), "lease_lost");
  EXPECT_EQ(refusal(claimed->epoch, "0"), "given to " + std::to_string(claimed->epoch));
  EXPECT_EQ(refusal(claimed->epoch, std::to_string(claimed->epoch)), "token_taken");
  pass_ms(kLeaseMs);
  EXPECT_EQ(refusal(claimed->epoch, ""), "not_claimed") << "the task waits for another runner";
  ASSERT_TRUE(post("t", R"({"type":"status","data":{"state":"completed"}})"));
  EXPECT_EQ(refusal(claimed->epoch, ""), "task_ended");
}

TEST_F(ClaimsTest, TheEndOfATaskEndsItsLease) {
  create("t", kClaude);
  auto claimed = *claim(runner("r1"));
  ASSERT_TRUE(post("t", R"({"type":"status","data":{"state":"completed"}})"));
  EXPECT_FALSE(steering_->leases().knows("t", claimed->epoch));
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").state, State::completed);
}

TEST_F(ClaimsTest, AProducerCannotGiveItselfALease) {
  create("t", kClaude);
  ASSERT_TRUE(post("t", R"({"type":"status","data":{"state":"starting","runner":"me","leaseEpoch":1}})"));
  EXPECT_EQ(state("t").runner, "");
  EXPECT_EQ(state("t").lease_epoch, 0U);
}

TEST_F(ClaimsTest, AFailedCommitLeavesTheTaskToTheNext) {
  create("t", kClaude);
  fault_ = Fault::fail_before_commit;
  EXPECT_FALSE(claim(runner("r1")));
  fault_ = Fault::none;
  EXPECT_EQ(holder_of("t"), "");
  EXPECT_EQ((*claim(runner("r2")))->task, "t");
}

// A claim that the store committed without an answer is in the store with its lease: after its time another runner has
// the task.
TEST_F(ClaimsTest, AClaimWithoutAnAnswerHasItsLease) {
  create("t", kClaude);
  fault_ = Fault::fail_after_commit;
  EXPECT_FALSE(claim(runner("r1")));
  fault_ = Fault::none;
  EXPECT_EQ(holder_of("t"), "r1");
  EXPECT_FALSE(*claim(runner("r2")));
  pass_ms(kLeaseMs);
  EXPECT_EQ((*claim(runner("r2")))->task, "t");
  EXPECT_EQ(holder_of("t"), "r2");
}

// Everybody who posts to a task renews its lease, and that costs no write for each post.
TEST_F(ClaimsTest, RenewalsAreWrittenTogether) {
  for (int i = 0; i < 20; ++i) create("t" + std::to_string(i), kClaude);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(*claim(runner("r1")));
  std::uint64_t writes = writes_;
  for (int post = 0; post < 100; ++post) {
    for (int i = 0; i < 20; ++i) steering_->leases().touch("t" + std::to_string(i));
  }
  pass_ms(1'000);
  EXPECT_LE(writes_ - writes, 1U);
  for (int round = 0; round < 5; ++round) {
    pass_ms(kLeaseMs / 2);
    for (int i = 0; i < 20; ++i) steering_->leases().touch("t" + std::to_string(i));
  }
  pass_ms(kLeaseMs / 2);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(state("t" + std::to_string(i)).state, State::starting);
}

// An idle server writes nothing.
TEST_F(ClaimsTest, ServersWithoutLeasesWriteNothing) {
  create("t", kClaude);
  pass_ms(1'000);
  std::uint64_t writes = writes_;
  pass_ms(600'000);
  EXPECT_EQ(writes_, writes);
}

// The data directory of an earlier version has the claim in the log and no lease row.
TEST_F(ClaimsTest, AClaimOfAnEarlierVersionGetsItsLease) {
  create("t", kClaude);
  auto claimed = *claim(runner("r1"));
  ASSERT_TRUE(post("t", R"({"type":"thinking","summary":"hm"})"));
  stop();
  ASSERT_TRUE(store_.write([](WriteTxn& txn) { ASSERT_TRUE(end_task_leases(txn, "t")); }));
  restart();
  EXPECT_EQ(holder_of("t"), "r1");
  pass_ms(kLeaseMs - 1);
  EXPECT_EQ(renewed("t", claimed->epoch, "r1"), "kept");
  pass_ms(kLeaseMs);
  EXPECT_EQ(state("t").error, "runner lost");
}

TEST_F(ClaimsTest, ADeletedTaskIsPassedOver) {
  create("gone", kClaude);
  clock_.advance_ms(1);
  create("t", kClaude);
  journal_.delete_task("gone", [](Result<void> deleted) { EXPECT_TRUE(deleted); });
  settle();
  EXPECT_EQ((*claim(runner("r1")))->task, "t");
}

}  // namespace
}  // namespace shepherd
