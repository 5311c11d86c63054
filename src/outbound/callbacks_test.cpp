#include "outbound/callbacks.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "json/scan.h"
#include "model/wire_json.h"
#include "outbound/callback_message.h"
#include "outbound/callback_target.h"
#include "outbound/limits.h"
#include "store/memory/memory_store.h"

namespace shepherd {
namespace {

// A journal that commits by itself, callbacks that this thread steps, and a receiver with scripted answers.
class CallbacksTest : public testing::Test {
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
    config_.threads = 0;
    config_.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    restart();
  }

  void restart() {
    callbacks_.reset();
    CallbackParts parts{journal_, clock_, random_, metrics_,
                        [this](const net::Url& url, const net::HeaderList& headers, std::string_view body,
                               const std::stop_token& stop) {
                          received_.push_back({url.host, std::string(body), headers});
                          if (hang_) {
                            hang_(stop);
                            return silence();
                          }
                          if (answers_.empty()) return Result<int>(200);
                          Result<int> answer = std::move(answers_.front());
                          answers_.erase(answers_.begin());
                          return answer;
                        }};
    callbacks_ = std::make_unique<Callbacks>(std::move(parts), config_);
    ASSERT_TRUE(callbacks_->start());
  }

  // Creates a task and ends it.
  void ended_task(const std::string& id, const std::string& url = "http://receiver.test/hook") {
    auto spec = decode_task_request(R"({"id":")" + id + R"(","prompt":"do it","callbackURL":")" + url + "\"}");
    journal_.create_task(*spec, "", [](Result<Created> created) { EXPECT_TRUE(created); });
    append(id, *decode_events(R"({"type":"status","summary":"all done","data":{"state":"completed",)"
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
  void report(const std::string& id, const std::string& update) { append(id, *decode_status_update(update, Intake{})); }
  void append(const std::string& id, DraftBatch drafts) {
    AppendRequest request;
    request.task = id;
    request.drafts = std::move(drafts);
    journal_.append(std::move(request), [](Result<Appended> appended) { EXPECT_TRUE(appended); });
    journal_.drain();
  }
  void look(const std::string& id) {
    std::promise<bool> done;
    callbacks_->changed({*store_.row(id)}, [&](bool good) { done.set_value(good); });
    EXPECT_TRUE(done.get_future().get());
  }
  std::vector<std::string> received_events() const {
    std::vector<std::string> events;
    for (const Received& each : received_) events.push_back(string_value(find_member(each.body, "event")).value());
    return events;
  }

  CallbackRecord record(const std::string& id) { return callbacks_->find(id).value(); }
  static Result<int> silence() { return fail(ErrorCode::unavailable, "timed_out", "it did not answer in time"); }

  ManualClock clock_;
  SeededRandom random_{7};
  MetricRegistry metrics_;
  MemoryStore store_;
  Hub hub_{clock_, metrics_};
  NoBus bus_;
  ThreadPool workers_{"workers", 1};
  Journal journal_{store_, hub_, bus_, workers_, clock_, metrics_};
  CallbackConfig config_;
  std::vector<Received> received_;
  std::vector<Result<int>> answers_;
  std::function<void(const std::stop_token&)> hang_;  // replaces the receiver's answer
  std::unique_ptr<Callbacks> callbacks_;
};

TEST_F(CallbacksTest, SaysWhatHappenedAndSignsIt) {
  ended_task("t");
  ASSERT_TRUE(callbacks_->step());
  ASSERT_EQ(received_.size(), 1U);
  EXPECT_EQ(received_[0].body,
            R"({"taskID":"t","event":"completed","message":"all done","details":{"state":"completed",)"
            R"("prURL":"https://example.com/pull/1","pr_url":"https://example.com/pull/1","error":"","costUSD":0,)"
            R"("lastSequence":1}})");
  EXPECT_EQ(received_[0].header("webhook-timestamp"), "1700000000");
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
  EXPECT_EQ(record("t").attempts, 1);
  EXPECT_FALSE(callbacks_->step()) << "once";
}

TEST_F(CallbacksTest, PassesOnTheReportersOwnDetails) {
  asking_task("t", "[]");
  report(
      "t",
      R"({"event":"failed","message":"no","details":{"error":"boom","lines":[1,{"a":"b"}],"state":"odd","pr_url":"p"}})");
  look("t");
  ASSERT_TRUE(callbacks_->step());
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
  while (callbacks_->step()) {
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
  ASSERT_TRUE(callbacks_->step());
  report("t", R"({"event":"completed"})");
  look("t");
  ASSERT_TRUE(callbacks_->step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent) << "the report has had its turn";
  restart();
  look("t");
  clock_.advance_ms(2'000);
  ASSERT_TRUE(callbacks_->step());
  EXPECT_FALSE(callbacks_->step());
  ASSERT_EQ(received_events(), (std::vector<std::string>{"progress", "completed", "progress"}));
  EXPECT_EQ(received_[2].header("webhook-id"), received_[0].header("webhook-id"));
}

TEST_F(CallbacksTest, ARunnerThatNamesNoEventHasStartedWhenItRuns) {
  asking_task("t", R"(["started"])");
  for (int i = 0; i < 2; ++i) {
    append("t", *decode_events(R"({"type":"status","summary":"running","data":{"state":"running"}})", Framing::json,
                               Intake{}));
    look("t");
  }
  while (callbacks_->step()) {
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
  ASSERT_TRUE(callbacks_->step());
  EXPECT_EQ(record("t").status, 500);
  EXPECT_FALSE(callbacks_->step()) << "not at once";
  std::int64_t first_pause = record("t").next_ms - clock_.wall_ms();
  EXPECT_GE(first_pause, 1'000);
  EXPECT_LE(first_pause, 1'200);
  clock_.advance_ms(first_pause);
  ASSERT_TRUE(callbacks_->step());
  EXPECT_EQ(record("t").error, "answered with status 302") << "redirects are not followed";
  std::int64_t second_pause = record("t").next_ms - clock_.wall_ms();
  EXPECT_GE(second_pause, 2'000);
  clock_.advance_ms(second_pause);
  ASSERT_TRUE(callbacks_->step());
  clock_.advance_ms(10'000);
  ASSERT_TRUE(callbacks_->step());
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
    callbacks_->step();
    clock_.advance_ms(10'000);
  }
  EXPECT_EQ(received_.size(), 3U);
  EXPECT_EQ(record("t").state, CallbackRecord::State::failed);
  answers_ = {410};
  ended_task("gone");
  ASSERT_TRUE(callbacks_->step());
  EXPECT_EQ(record("gone").state, CallbackRecord::State::failed) << "410: the receiver wants no more";
}

TEST_F(CallbacksTest, ARestartGoesOn) {
  answers_ = {503};
  ended_task("waits");
  ASSERT_TRUE(callbacks_->step());
  ended_task("new");
  restart();
  EXPECT_EQ(record("waits").attempts, 1);
  ASSERT_TRUE(callbacks_->step());
  EXPECT_EQ(record("new").state, CallbackRecord::State::sent);
  clock_.advance_ms(2'000);
  ASSERT_TRUE(callbacks_->step());
  EXPECT_EQ(record("waits").state, CallbackRecord::State::sent);
  restart();
  EXPECT_FALSE(callbacks_->step()) << "what was sent stays sent";
  EXPECT_EQ(record("waits").state, CallbackRecord::State::sent);
}

TEST_F(CallbacksTest, AClaimOfAnotherProcessIsLeftAloneForAWhile) {
  ended_task("t");
  CallbackRecord claimed;
  claimed.claimed_ms = clock_.wall_ms();
  std::promise<void> written;
  journal_.write([&](WriteTxn& txn) { return txn.put_record("callback", "t", encode_callback_record(claimed)); },
                 [&](Result<void>) { written.set_value(); });
  written.get_future().wait();
  config_.sole_process = false;
  restart();
  EXPECT_FALSE(callbacks_->step());
  clock_.advance_ms(kCallbackTakeover.count());
  EXPECT_TRUE(callbacks_->step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
}

TEST_F(CallbacksTest, AHostThatKeepsFailingIsLeftAlone) {
  for (int i = 0; i < kBreakerFailures; ++i) {
    answers_.push_back(silence());
    ended_task("t" + std::to_string(i));
    ASSERT_TRUE(callbacks_->step());
  }
  ended_task("next");
  ended_task("other", "http://elsewhere.test/");
  while (callbacks_->step()) {
  }
  ASSERT_EQ(received_.size(), static_cast<std::size_t>(kBreakerFailures) + 1);
  EXPECT_EQ(received_.back().host, "elsewhere.test");
  EXPECT_EQ(record("next").attempts, 0) << "waiting for the circuit is no attempt";
  answers_.push_back(silence());
  clock_.advance_ms(kBreakerPause.count());
  while (callbacks_->step()) {
  }
  EXPECT_EQ(received_.size(), static_cast<std::size_t>(kBreakerFailures) + 2) << "one try decides";
  clock_.advance_ms(kBreakerPause.count());
  while (callbacks_->step()) {
  }
  EXPECT_EQ(record("next").state, CallbackRecord::State::sent);
}

TEST_F(CallbacksTest, ADeletedTaskIsNotTold) {
  ended_task("t");
  std::promise<void> gone;
  journal_.delete_task("t", [&](Result<void>) { gone.set_value(); });
  gone.get_future().wait();
  callbacks_->step();
  EXPECT_TRUE(received_.empty());
  EXPECT_FALSE(callbacks_->find("t"));
}

// A hanging receiver must not delay the server's end, and the attempt does not count.
TEST_F(CallbacksTest, StoppingGivesUpWhatIsUnderWay) {
  std::promise<void> begun;
  hang_ = [&](const std::stop_token& stop) {
    begun.set_value();
    std::promise<void> stopped;
    std::stop_callback wake(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
  };
  config_.threads = 1;
  restart();
  ended_task("t");
  begun.get_future().wait();
  callbacks_->stop();
  EXPECT_EQ(record("t").state, CallbackRecord::State::pending);
  EXPECT_EQ(record("t").attempts, 0);
  hang_ = nullptr;
  config_.threads = 0;
  restart();
  EXPECT_EQ(record("t").claimed_ms, 0) << "nobody is at it";
  EXPECT_TRUE(callbacks_->step());
  EXPECT_EQ(record("t").state, CallbackRecord::State::sent);
  EXPECT_EQ(received_.at(0).header("webhook-id"), received_.at(1).header("webhook-id"));
}

TEST(CallbackTarget, WhereCallbacksMayGo) {
  for (const char* url :
       {"http://127.0.0.1:9/x", "https://example.com", "http://10.1.2.3/", "http://[::1]/", "http://[2001:db8::1]/"}) {
    EXPECT_TRUE(callback_target(url)) << url;
  }
  for (const char* url :
       {"http://169.254.169.254/latest/meta-data", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::a9fe:a9fe]/",
        "http://[64:ff9b:1:fffe::1]/", "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://0.0.0.0/",
        "http://[::]/", "http://224.0.0.1/", "http://168.63.129.16/", "ftp://example.com/", "example.com",
        "ws://example.com/", "http://user:pw@example.com/"}) {
    auto target = callback_target(url);
    ASSERT_FALSE(target) << url;
    EXPECT_EQ(target.error().reason, "bad_callback_url");
  }
  EXPECT_FALSE(callback_target("http://example.com/" + std::string(kMaxUrlBytes, 'a')));
}

TEST(PostCallback, AsksAgainWhatANameStandsFor) {
  // Resolvers accept an address as one number: this one is 169.254.169.254.
  auto answer = post_callback(*net::parse_url("http://2852039166/"), {}, "{}", {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, "refused_address");
}

// An answer longer than the limit still counts as accepted.
TEST(PostCallback, AGoodAnswerIsGoodHoweverLongItIs) {
  for (const std::string& head : {std::string("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n"),
                                  std::string("HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n")}) {
    int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* name = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener, name, size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, name, &size), 0);
    std::thread receiver([&] {
      int connection = ::accept(listener, nullptr, nullptr);
      char bytes[4096];
      EXPECT_GT(::recv(connection, bytes, sizeof bytes, 0), 0);
      std::string answer = head + std::string(3'000'000, 'x');
      std::string_view rest = answer;
      while (!rest.empty()) {
        ssize_t sent = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(sent));
      }
      ::close(connection);
    });
    std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/done";
    auto answer = post_callback(*net::parse_url(url), {}, "{}", {});
    receiver.join();
    ::close(listener);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer / 100, 2);
  }
}

// A receiver that accepts connections and never answers.
TEST(PostCallback, IsCutOffInTheMiddle) {
  int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* name = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, name, size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, name, &size), 0);
  std::stop_source stop;
  std::thread receiver([&] {
    int connection = ::accept(listener, nullptr, nullptr);
    char byte = 0;
    EXPECT_EQ(::recv(connection, &byte, 1, 0), 1) << "the request is on its way";
    stop.request_stop();
    while (::recv(connection, &byte, 1, 0) > 0) {
    }
    ::close(connection);
  });
  std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
  auto answer = post_callback(*net::parse_url(url), {}, "{}", stop.get_token());
  receiver.join();
  ::close(listener);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, "cancelled");
}

}  // namespace
}  // namespace shepherd
