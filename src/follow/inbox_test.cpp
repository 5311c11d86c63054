#include "follow/inbox.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/limits.h"
#include "follow/limits.h"
#include "journal/journal_fixture.h"
#include "store/limits.h"
#include "views/limits.h"

namespace shepherd {
namespace {

class InboxTest : public JournalFixture {
 protected:
  void SetUp() override { restart(); }
  void TearDown() override { stop(); }

  void restart() {
    stop();
    auto opened = Inbox::open(journal_, workers_, clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    inbox_ = std::move(*opened);
    inbox_->on_change([this](std::size_t total) { told_.push_back(total); });
    settle();
  }
  void stop() {
    if (inbox_ == nullptr) return;
    stop_now(*inbox_);
    inbox_.reset();
  }
  void pass_ms(std::int64_t ms) {
    clock_.advance_ms(ms);
    inbox_->tick();
    settle();
  }
  void create(const std::string& id) {
    TaskSpec spec;
    spec.id = id;
    spec.description = "Work of " + id;
    spec.agent = "claude";
    journal_.create_task(spec, "", [](Result<Created> created) { ASSERT_TRUE(created); });
    settle();
  }
  void post(const std::string& task, const std::string& event, bool by_server = false) {
    auto appended = append(task, event, by_server);
    ASSERT_TRUE(appended) << appended.error().message;
  }
  void approval(const std::string& task, const std::string& id, const std::string& more = "") {
    post(task, R"({"type":"approval","tool":"Bash","summary":"Needs approval: )" + id +
                   R"(","data":{"state":"pending","kind":"permission","approvalID":")" + id + "\"" + more + "}}");
  }
  void state(const std::string& task, const std::string& state, const std::string& more = "") {
    post(task, R"({"type":"status","summary":"it is )" + state + R"(","data":{"state":")" + state + "\"" + more + "}}");
  }
  // "kind task" of every entry, in order.
  std::string shown() {
    std::string text;
    for (const TaskNeed& need : inbox_->needs("")) {
      text += (text.empty() ? "" : ", ") + std::string(name(need.kind)) + " " + need.task;
    }
    return text;
  }
  std::string dismiss(const std::string& task) {
    std::optional<Result<void>> answer;
    inbox_->dismiss(task, [&](Result<void> done) { answer = std::move(done); });
    settle();
    return !answer ? "unanswered" : *answer ? "ok" : answer->error().reason;
  }

  std::vector<std::size_t> told_;
  std::unique_ptr<Inbox> inbox_;
};

TEST_F(InboxTest, RanksWhatNeedsAPerson) {
  for (const char* id : {"calm", "failed", "quiet", "waits", "asks", "hurries"}) {
    create(id);
    post(id, R"({"type":"thinking","summary":"working"})");
  }
  state("failed", "failed", R"(,"error":"no disk")");
  clock_.advance_ms(1'000);
  state("waits", "waiting_for_input");
  approval("asks", "a1");
  approval("hurries", "a2", R"(,"expiresAt":")" + format_timestamp(clock_.wall_ms() + 3'600'000) + "\"");
  EXPECT_EQ(shown(), "approval hurries, approval asks, waiting waits, failed failed");
  EXPECT_TRUE(told_.size() >= 4 && told_.back() == 4U);

  pass_ms(kStallSilence.count() - 2'000);
  post("calm", R"({"type":"thinking","summary":"still here"})");
  pass_ms(2'000);
  pass_ms(kInboxSweep.count());
  EXPECT_EQ(shown(), "approval hurries, approval asks, waiting waits, stalled quiet, failed failed");

  auto first = inbox_->needs("hurries");
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].title, "Work of hurries");
  EXPECT_EQ(first[0].agent, "claude");
  EXPECT_EQ(first[0].sequence, 2U);
  EXPECT_EQ(first[0].approval->id, "a2");
  EXPECT_EQ(first[0].approval->tool, "Bash");
  EXPECT_EQ(inbox_->needs("failed")[0].summary, "no disk");
}

TEST_F(InboxTest, AnApprovalThatIsAnsweredLeavesAtOnce) {
  create("t");
  approval("t", "a1");
  EXPECT_EQ(shown(), "approval t");
  post("t",
       R"({"type":"command","summary":"approve","data":{"id":"c1","kind":"approve","by":"ada","approvalID":"a1"}})",
       true);
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told_.back(), 0U);
  // The answer was refused, so the question is open again.
  post("t", R"({"type":"command_result","summary":"refused","data":{"id":"c1","state":"refused"}})", true);
  EXPECT_EQ(shown(), "approval t");
  post("t", R"({"type":"approval","summary":"denied","data":{"approvalID":"a1","state":"denied"}})");
  EXPECT_EQ(shown(), "");
}

TEST_F(InboxTest, AQuestionIsAQuestion) {
  create("t");
  post("t", R"({"type":"approval","summary":"Which?","data":{"state":"pending","kind":"question","approvalID":"q"}})");
  state("t", "waiting_for_input");
  EXPECT_EQ(shown(), "question t");
}

TEST_F(InboxTest, AnAgentThatSpeaksAgainIsNotStalled) {
  create("t");
  post("t", R"({"type":"thinking","summary":"working"})");
  pass_ms(kStallSilence.count() - 1);
  EXPECT_EQ(shown(), "");
  pass_ms(kInboxSweep.count());
  EXPECT_EQ(shown(), "stalled t");
  post("t", R"({"type":"thinking","summary":"on"})");  // of a type that the inbox does not follow
  EXPECT_EQ(shown(), "stalled t");
  pass_ms(1'000);
  EXPECT_EQ(shown(), "");
}

TEST_F(InboxTest, DismissedStaysAwayUntilSomethingNewHappens) {
  create("t");
  post("t", R"({"type":"thinking","summary":"working"})");
  EXPECT_EQ(dismiss("t"), "nothing_to_dismiss");
  EXPECT_EQ(dismiss("nobody"), "nothing_to_dismiss");
  pass_ms(kStallSilence.count() + kInboxSweep.count());
  ASSERT_EQ(shown(), "stalled t");
  EXPECT_EQ(dismiss("t"), "ok");
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told_.back(), 0U);
  pass_ms(kInboxSweep.count());
  EXPECT_EQ(shown(), "");
  restart();
  EXPECT_EQ(shown(), "") << "a restart knows what was dismissed";
  state("t", "failed");
  EXPECT_EQ(shown(), "failed t");
  EXPECT_EQ(dismiss("t"), "ok");
  EXPECT_EQ(shown(), "");
}

TEST_F(InboxTest, ADismissalAmongLostChangesIsFound) {
  create("t");
  state("t", "failed");
  ASSERT_EQ(shown(), "failed t");
  // Another replica dismisses it, and then changes more than the store keeps.
  ASSERT_TRUE(store_.write([&](WriteTxn& txn) {
    ASSERT_TRUE(txn.put_record("inbox_dismissed", "t", std::to_string(journal_.store().row("t")->state.last_sequence)));
    for (std::uint64_t i = 0; i <= kKeptChanges; ++i) ASSERT_TRUE(txn.put_record("k", "x", std::to_string(i)));
  }));
  create("u");
  EXPECT_EQ(shown(), "");
}

TEST_F(InboxTest, AnApprovalCannotBeDismissed) {
  create("t");
  approval("t", "a1");
  EXPECT_EQ(dismiss("t"), "nothing_to_dismiss");
  EXPECT_EQ(shown(), "approval t");
}

TEST_F(InboxTest, AFailureIsHistoryAfterADay) {
  create("t");
  state("t", "failed");
  EXPECT_EQ(shown(), "failed t");
  pass_ms(kInboxShowsFailed.count() - 1'000);
  EXPECT_EQ(shown(), "failed t");
  pass_ms(kInboxSweep.count());
  EXPECT_EQ(shown(), "");
  restart();
  EXPECT_EQ(shown(), "");
}

TEST_F(InboxTest, ARestartFindsEverythingAgain) {
  create("asks");
  create("failed");
  approval("asks", "a1");
  std::int64_t asked_ms = clock_.wall_ms();
  clock_.advance_ms(60'000);
  post("asks", R"({"type":"log","summary":"a line"})");
  state("failed", "failed");
  restart();
  EXPECT_EQ(shown(), "approval asks, failed failed");
  EXPECT_EQ(inbox_->needs("asks")[0].since_ms, asked_ms) << "the approval's own event says since when";
}

TEST_F(InboxTest, ADeletedTaskNeedsNobody) {
  create("t");
  state("t", "failed");
  EXPECT_EQ(shown(), "failed t");
  journal_.delete_task("t", [](Result<void> deleted) { ASSERT_TRUE(deleted); });
  settle();
  EXPECT_EQ(shown(), "");
}

}  // namespace
}  // namespace shepherd
