#include "outbound/callbacks.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "journal/journal_fixture.h"
#include "json/scan.h"
#include "model/wire_json.h"
#include "outbound/callback_message.h"
#include "outbound/limits.h"
#include "store/memory/forwarding_store.h"
#include "store/memory/memory_store.h"

namespace shepherd {
namespace {

// A receiver that keeps requests until the test answers them.
class HeldPoster final : public CallbackPoster {
 public:
  void post(CallbackPost request, Done done) override { held.push_back({std::move(request), std::move(done)}); }
  void stop() override { held.clear(); }

  struct Held {
    CallbackPost request;
    Done done;
  };
  std::vector<Held> held;
};

// Callbacks over a journal and workers that the test steps, and a receiver with scripted answers.
class CallbacksTest : public JournalFixture {
 protected:
  struct Received {
    std::string host, body;
    net::HeaderList headers;
    std::string header(std::string_view name) const {
      for (const auto& [key, value] : headers) {
        if (key == name) return value;
      }
      return {};
    }
  };

  void SetUp() override {
    config_.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    restart();
  }
  void TearDown() override { stop(); }

  std::unique_ptr<Callbacks> open(CallbackPoster& poster) {
    auto made =
        std::make_unique<Callbacks>(CallbackParts{journal_, workers_, clock_, random_, metrics_, &poster}, config_);
    EXPECT_TRUE(made->start());
    return made;
  }
  void stop() {
    if (callbacks_) callbacks_->stop();
    callbacks_.reset();
    settle();
  }
  void restart() {
    stop();
    callbacks_ = open(poster_);
    settle();
  }

  // Begins what is due and answers one request; false if there is none.
  bool step() {
    callbacks_->tick();
    settle();
    if (poster_.held.empty()) return false;
    Result<int> answer = answers_.empty() ? Result<int>(200) : answers_.front();
    if (!answers_.empty()) answers_.erase(answers_.begin());
    answer_one(poster_, std::move(answer));
    return true;
  }
  void answer_one(HeldPoster& poster, Result<int> answer) {
    HeldPoster::Held held = std::move(poster.held.front());
    poster.held.erase(poster.held.begin());
    received_.push_back({held.request.url.host, held.request.body, held.request.headers});
    held.done(std::move(answer));
    settle();
  }

  // Creates a task and ends it.
  void ended_task(const std::string& id, const std::string& url = "http://receiver.test/hook") {
    auto spec = decode_task_request(R"({"id":")" + id + R"(","prompt":"do it","callbackURL":")" + url + "\"}");
    journal_.create_task(*spec, "", [](Result<Created> created) { EXPECT_TRUE(created); });
    append_drafts(id, *decode_events(R"({"type":"status","summary":"all done","data":{"state":"completed",)"
                                     R"("prURL":"https://example.com/pull/1"}})",
                                     Framing::json, Intake{}));
    look(id);
  }

  // Creates a task that requests callbacks for `events`; it has none so far.
  void asking_task(const std::string& id, const std::string& events) {
    auto spec = decode_task_request(R"({"id":")" + id + R"(","prompt":"do it","callbackURL":"http://receiver.test/",)" +
                                    R"("callbackEvents":)" + events + "}");
    ASSERT_TRUE(spec) << spec.error().message;
    journal_.create_task(*spec, "", [](Result<Created> created) { EXPECT_TRUE(created); });
  }
  void report(const std::string& id, const std::string& update) {
    append_drafts(id, *decode_status_update(update, Intake{}));
  }
  void append_drafts(const std::string& id, DraftBatch drafts) {
    AppendRequest request;
    request.task = id;
    request.drafts = std::move(drafts);
    journal_.append(std::move(request), [](Result<Appended> appended) { EXPECT_TRUE(appended); });
    settle();
  }
  void look(const std::string& id) { EXPECT_TRUE(take_row(*callbacks_, id)); }
  // The row of a task that was created again comes with it.
  void look_at_deletion(const std::string& id) {
    News news;
    news.deleted.push_back(id);
    if (auto row = store_.row(id)) news.rows.push_back(std::make_shared<TaskRow>(*row));
    EXPECT_TRUE(take(*callbacks_, news));
  }
  bool take_row(Callbacks& callbacks, const std::string& id) {
    News news;
    news.rows.push_back(std::make_shared<TaskRow>(*store_.row(id)));
    return take(callbacks, news);
  }
  bool take(Callbacks& callbacks, const News& news) {
    std::optional<bool> handled;
    callbacks.take(news, [&](bool good) { handled = good; });
    settle();
    return handled.value_or(false);
  }
  void delete_task(const std::string& id) {
    journal_.delete_task(id, [](Result<void> deleted) { EXPECT_TRUE(deleted); });
    settle();
  }
  std::vector<std::string> received_events() const {
    std::vector<std::string> events;
    for (const Received& each : received_) events.push_back(string_value(find_member(each.body, "event")).value());
    return events;
  }

  CallbackRecord record(const std::string& id) { return callbacks_->find(id).value(); }
  static Result<int> silence() { return fail(ErrorCode::unavailable, "timed_out", "it did not answer in time"); }

  SeededRandom random_{7};
  CallbackConfig config_;
  HeldPoster poster_;
  std::vector<Received> received_;
  std::vector<Result<int>> answers_;
  std::unique_ptr<Callbacks> callbacks_;
};

// A store whose rows of tasks cannot be read for a while, as on a disk that fails.
class UnreadableRows final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<TaskRow> row(const std::string& id) const override {
    if (unreadable) return fail(ErrorCode::internal, "corrupt", "the row is damaged");
    return ForwardingStore::row(id);
  }
  bool unreadable = true;
};

// The second process has a receiver of its own.
class TwoProcessesTest : public CallbacksTest {
 protected:
  void SetUp() override {
    config_.sole_process = false;
    CallbacksTest::SetUp();
    other_ = open(others_);
  }

  HeldPoster others_;
  std::unique_ptr<Callbacks> other_;
};

TEST_F(CallbacksTest, SaysWhatHappenedAndSignsIt) {
  ended_task("t");
  ASSERT_TRUE(step());
  ASSERT_EQ(received_.size(), 1U);
  EXPECT_EQ(received_[0].body,
            R"({"taskID":"t","event":"completed","message":"all done","details":{"state":"completed",)"
            R"("prURL":"https://example.com/pull/1","pr_url":"https://example.com/pull/1","error":"","costUSD":0,)"
            R"("lastSequence":1}})");
  EXPECT_EQ(received_[0].header("webhook-timestamp"), "1700000000");
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
  EXPECT_EQ(record("t").attempts, 1);
  EXPECT_FALSE(step()) << "once";
}

TEST_F(CallbacksTest, PassesOnTheReportersOwnDetails) {
  asking_task("t", "[]");
  report(
      "t",
      R"({"event":"failed","message":"no","details":{"error":"boom","lines":[1,{"a":"b"}],"state":"odd","pr_url":"p"}})");
  look("t");
  ASSERT_TRUE(step());
  EXPECT_EQ(received_[0].body,
            R"({"taskID":"t","event":"failed","message":"no","details":{"lines":[1,{"a":"b"}],"state":"failed",)"
            R"("prURL":"p","pr_url":"p","error":"boom","costUSD":0,"lastSequence":1}})");
}

TEST_F(CallbacksTest, TellsReportsThatWereAskedForInTheOrderOfTheLog) {
  asking_task("t", R"(["started","progress"])");
  report("t", R"({"event":"started","message":"here we go"})");
  report("t", R"({"event":"progress","message":"half","details":{"percent":50,"pr_url":"p"}})");
  look("t");
  look("t");
  report("t", R"({"event":"progress","message":"nearly"})");
  report("t", R"({"event":"completed","message":"done"})");
  look("t");
  while (step()) {
  }
  ASSERT_EQ(received_events(), (std::vector<std::string>{"started", "progress", "progress", "completed"}));
  EXPECT_EQ(received_[1].body, R"({"taskID":"t","event":"progress","message":"half","details":{"percent":50,)"
                               R"("prURL":"p","pr_url":"p","lastSequence":2}})");
  std::set<std::string> ids;
  for (const Received& each : received_) ids.insert(each.header("webhook-id"));
  EXPECT_EQ(ids.size(), 4U);
  EXPECT_EQ(store_.records("callback")->size(), 1U) << "only the end is kept";
  EXPECT_TRUE(store_.records("callback_cursor")->empty());
}

TEST_F(CallbacksTest, AReportGoesOnAfterARestartAndDoesNotHoldUpTheEnd) {
  asking_task("t", R"(["progress"])");
  report("t", R"({"event":"started"})");
  report("t", R"({"event":"progress","message":"one"})");
  look("t");
  answers_ = {503};
  ASSERT_TRUE(step());
  report("t", R"({"event":"completed"})");
  look("t");
  ASSERT_TRUE(step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent) << "the report has had its turn";
  restart();
  look("t");
  clock_.advance_ms(2'000);
  ASSERT_TRUE(step());
  EXPECT_FALSE(step());
  ASSERT_EQ(received_events(), (std::vector<std::string>{"progress", "completed", "progress"}));
  EXPECT_EQ(received_[2].header("webhook-id"), received_[0].header("webhook-id"));
}

TEST_F(CallbacksTest, TheLogMayBeNewerThanTheNews) {
  asking_task("t", R"(["progress"])");
  report("t", R"({"event":"progress","message":"one"})");
  News news;
  news.rows.push_back(std::make_shared<TaskRow>(*store_.row("t")));
  report("t", R"({"event":"progress","message":"two"})");
  EXPECT_TRUE(take(*callbacks_, news));
  look("t");
  while (step()) {
  }
  EXPECT_EQ(received_events().size(), 2U);
}

TEST_F(CallbacksTest, ARunnerThatNamesNoEventHasStartedWhenItRuns) {
  asking_task("t", R"(["started"])");
  for (int i = 0; i < 2; ++i) {
    append_drafts("t", *decode_events(R"({"type":"status","summary":"running","data":{"state":"running"}})",
                                      Framing::json, Intake{}));
    look("t");
  }
  while (step()) {
  }
  EXPECT_EQ(received_events(), std::vector<std::string>{"started"});
}

TEST_F(CallbacksTest, SignaturesAreThoseOfTheStandard) {
  // The example from the libraries of the Standard Webhooks specification.
  std::string key = callback_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  CallbackMessage message{"msg_p5jXN8AQM9LWM0D4loKWxJek", R"({"test": 2432232314})"};
  net::HeaderList headers = callback_headers(message, key, 1'614'265'330'000);
  std::string signature;
  for (const auto& [name, value] : headers) {
    if (name == "webhook-signature") signature = value;
  }
  EXPECT_EQ(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  EXPECT_EQ(callback_key("a plain one"), "a plain one");
}

TEST_F(CallbacksTest, TriesAgainLaterAndLater) {
  answers_ = {500, 302, silence()};
  ended_task("t");
  ASSERT_TRUE(step());
  EXPECT_EQ(record("t").status, 500);
  EXPECT_FALSE(step()) << "not at once";
  std::int64_t first_pause = record("t").next_ms - clock_.wall_ms();
  EXPECT_GE(first_pause, 1'000);
  EXPECT_LE(first_pause, 1'200);
  clock_.advance_ms(first_pause);
  ASSERT_TRUE(step());
  EXPECT_EQ(record("t").error, "answered with status 302") << "redirects are not followed";
  std::int64_t second_pause = record("t").next_ms - clock_.wall_ms();
  EXPECT_GE(second_pause, 2'000);
  clock_.advance_ms(second_pause);
  ASSERT_TRUE(step());
  clock_.advance_ms(10'000);
  ASSERT_TRUE(step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
  ASSERT_EQ(received_.size(), 4U);
  for (const Received& each : received_) EXPECT_EQ(each.header("webhook-id"), received_[0].header("webhook-id"));
}

TEST_F(CallbacksTest, GivesUp) {
  config_.attempts = 3;
  restart();
  answers_ = {404, 404, 404, 404};
  ended_task("t");
  for (int i = 0; i < 5; ++i) {
    step();
    clock_.advance_ms(10'000);
  }
  EXPECT_EQ(received_.size(), 3U);
  EXPECT_EQ(record("t").state, CallbackRecord::State::failed);
  answers_ = {410};
  ended_task("gone");
  ASSERT_TRUE(step());
  EXPECT_EQ(record("gone").state, CallbackRecord::State::failed) << "410: the receiver wants no more";
}

TEST_F(CallbacksTest, ARestartGoesOn) {
  answers_ = {503};
  ended_task("waits");
  ASSERT_TRUE(step());
  ended_task("new");
  restart();
  EXPECT_EQ(record("waits").attempts, 1);
  ASSERT_TRUE(step());
  EXPECT_EQ(record("new").state, CallbackRecord::State::sent);
  clock_.advance_ms(2'000);
  ASSERT_TRUE(step());
  EXPECT_EQ(record("waits").state, CallbackRecord::State::sent);
  restart();
  EXPECT_FALSE(step()) << "what was sent stays sent";
  EXPECT_EQ(record("waits").state, CallbackRecord::State::sent);
}

TEST_F(TwoProcessesTest, AClaimOfAnotherProcessIsLeftAloneForAWhile) {
  ended_task("t");
  ASSERT_EQ(poster_.held.size(), 1U);
  EXPECT_TRUE(take_row(*other_, "t"));
  EXPECT_TRUE(others_.held.empty()) << "never two at a time";
  // The first one never ends its attempt.
  clock_.advance_ms(kCallbackTakeover.count() - 1);
  other_->tick();
  settle();
  EXPECT_TRUE(others_.held.empty());
  clock_.advance_ms(1);
  other_->tick();
  settle();
  ASSERT_EQ(others_.held.size(), 1U);
  answer_one(others_, 200);
  EXPECT_EQ(other_->find("t")->state, CallbackRecord::State::sent);
  answer_one(poster_, 500);
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent) << "it was accepted, whatever a late answer says";
  EXPECT_EQ(received_.at(0).header("webhook-id"), received_.at(1).header("webhook-id"));
}

TEST_F(TwoProcessesTest, AnotherProcessLearnsWhatWasSent) {
  asking_task("t", R"(["progress"])");
  report("t", R"({"event":"progress","message":"one"})");
  report("t", R"({"event":"completed"})");
  look("t");
  while (step()) continue;
  EXPECT_TRUE(take_row(*other_, "t"));
  clock_.advance_ms(kCallbackTakeover.count());
  other_->tick();
  settle();
  EXPECT_TRUE(others_.held.empty()) << "what is sent is not sent again";
  EXPECT_EQ(received_.size(), 2U);
  EXPECT_EQ(other_->find("t")->state, CallbackRecord::State::sent);
}

// A commit can fail after it was made, and before.
TEST_F(CallbacksTest, AnOutcomeThatCannotBeStoredIsStoredLater) {
  ended_task("t");
  ASSERT_EQ(poster_.held.size(), 1U);
  fault_ = Fault::fail_before_commit;
  answer_one(poster_, 200);
  fault_ = Fault::none;
  EXPECT_EQ(decode_callback_record(*store_.record("callback", "t")).state, CallbackRecord::State::pending);
  EXPECT_FALSE(step()) << "it is not sent again";
  EXPECT_EQ(decode_callback_record(*store_.record("callback", "t")).state, CallbackRecord::State::sent);
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
}

TEST_F(CallbacksTest, ATaskThatCannotBeReadKeepsItsCallback) {
  answers_ = {503};
  ended_task("t");
  ASSERT_TRUE(step());
  stop();
  UnreadableRows rows(store_);
  Journal journal(rows, hub_, bus_, workers_, clock_, metrics_, false);
  Callbacks callbacks({journal, workers_, clock_, random_, metrics_, &poster_}, config_);
  ASSERT_TRUE(callbacks.start());
  auto attempt = [&] {
    clock_.advance_ms(60'000);
    callbacks.tick();
    while (workers_.run_one() || journal.step()) {
    }
    return poster_.held.size();
  };
  EXPECT_EQ(attempt(), 0U);
  EXPECT_EQ(decode_callback_record(*store_.record("callback", "t")).state, CallbackRecord::State::pending);
  ASSERT_TRUE(callbacks.find("t"));
  rows.unreadable = false;
  EXPECT_EQ(attempt(), 1U) << "it is made later";
  callbacks.stop();
  while (workers_.run_one() || journal.step()) {
  }
}

TEST_F(CallbacksTest, AReceiverGetsOnlyItsShareOfTheAttempts) {
  for (int i = 0; i < 6; ++i) ended_task("t" + std::to_string(i));
  ended_task("other", "http://elsewhere.test/");
  EXPECT_EQ(poster_.held.size(), kCallbacksPerHost + 1);
  while (step()) {
  }
  EXPECT_EQ(received_.size(), 7U);
}

TEST_F(CallbacksTest, AHostThatKeepsFailingIsLeftAlone) {
  for (int i = 0; i < kBreakerFailures; ++i) {
    answers_.push_back(silence());
    ended_task("t" + std::to_string(i));
    ASSERT_TRUE(step());
  }
  ended_task("next");
  ended_task("other", "http://elsewhere.test/");
  while (step()) {
  }
  ASSERT_EQ(received_.size(), static_cast<std::size_t>(kBreakerFailures) + 1);
  EXPECT_EQ(received_.back().host, "elsewhere.test");
  EXPECT_EQ(record("next").attempts, 0) << "waiting for the circuit is no attempt";
  answers_.push_back(silence());
  clock_.advance_ms(kBreakerPause.count());
  while (step()) {
  }
  EXPECT_EQ(received_.size(), static_cast<std::size_t>(kBreakerFailures) + 2) << "one try decides";
  clock_.advance_ms(kBreakerPause.count());
  while (step()) {
  }
  EXPECT_EQ(record("next").state, CallbackRecord::State::sent);
}

TEST_F(CallbacksTest, ADeletedTaskIsNotTold) {
  answers_ = {503};
  ended_task("t");
  ASSERT_TRUE(step());
  delete_task("t");
  clock_.advance_ms(10'000);
  EXPECT_FALSE(step());
  EXPECT_FALSE(callbacks_->find("t"));
  EXPECT_TRUE(store_.records("callback")->empty());
}

TEST_F(CallbacksTest, ADeletedTaskLeavesNothingForTheNextWithItsId) {
  ended_task("t");
  ASSERT_TRUE(step());
  ASSERT_EQ(record("t").state, CallbackRecord::State::sent);
  delete_task("t");
  clock_.advance_ms(1);
  ended_task("t");  // its row comes together with the deletion
  look_at_deletion("t");
  ASSERT_TRUE(step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
  ASSERT_EQ(received_.size(), 2U);
  EXPECT_NE(received_[0].header("webhook-id"), received_[1].header("webhook-id"));
}

TEST_F(CallbacksTest, ACallbackOfADeletedTaskIsNotThatOfTheNextWithItsId) {
  answers_ = {503};
  ended_task("t");
  ASSERT_TRUE(step());
  delete_task("t");
  clock_.advance_ms(10'000);
  asking_task("t", "[]");
  EXPECT_FALSE(step());
  EXPECT_TRUE(store_.records("callback")->empty()) << "the claim finds that it is over";
}

// The commit was made and its answer lost. Before the next try the task is deleted.
TEST_F(CallbacksTest, WhatWasPerhapsAddedGoesWithItsTask) {
  asking_task("t", R"(["progress"])");
  report("t", R"({"event":"progress","message":"one"})");
  fault_ = Fault::fail_after_commit;
  EXPECT_FALSE(take_row(*callbacks_, "t"));
  fault_ = Fault::none;
  ASSERT_FALSE(store_.records("callback")->empty());
  delete_task("t");
  look_at_deletion("t");
  EXPECT_TRUE(store_.records("callback")->empty());
  EXPECT_TRUE(store_.records("callback_cursor")->empty());
}

TEST_F(TwoProcessesTest, AProcessThatDoesNotKnowTheEndYetSendsNoReport) {
  asking_task("t", R"(["progress"])");
  report("t", R"({"event":"progress","message":"one"})");
  look("t");
  EXPECT_TRUE(take_row(*other_, "t"));
  answer_one(poster_, 503);
  report("t", R"({"event":"completed"})");
  look("t");
  ASSERT_EQ(poster_.held.size(), 1U) << "the end is on its way";
  News news;
  news.changes.push_back({1, 0, ChangeKind::record_changed, "callback", "t#1"});
  EXPECT_TRUE(take(*other_, news));
  clock_.advance_ms(2'000);
  other_->tick();
  settle();
  EXPECT_TRUE(others_.held.empty()) << "never two of a task at a time";
  answer_one(poster_, 200);
  EXPECT_EQ(poster_.held.size(), 1U) << "then the report again";
}

// A hanging receiver must not delay the server's end, and the attempt does not count.
TEST_F(CallbacksTest, StoppingGivesUpWhatIsUnderWay) {
  ended_task("t");
  ASSERT_EQ(poster_.held.size(), 1U);
  std::string id = poster_.held[0].request.body;
  callbacks_->stop();
  EXPECT_TRUE(poster_.held.empty()) << "given up";
  settle();
  EXPECT_EQ(decode_callback_record(*store_.record("callback", "t")).claimed_ms, 0) << "nobody is at it";
  EXPECT_EQ(record("t").state, CallbackRecord::State::pending);
  EXPECT_EQ(record("t").attempts, 0);
  restart();
  EXPECT_TRUE(step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
  EXPECT_EQ(received_.at(0).body, id);
}

}  // namespace
}  // namespace shepherd
