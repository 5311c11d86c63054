#include "net/http_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "net/dialing.h"
#include "net/raw_server_for_test.h"
#include "net/server_for_test.h"
#include "net/whole_answer.h"

namespace shepherd::net {
namespace {

using std::chrono::milliseconds;

class Recorder final : public CallObserver {
 public:
  void on_head(ResponseHead&& head) override {
    status = head.status;
    headers = std::move(head.headers);
  }
  void on_body(std::string_view piece) override {
    body += piece;
    if (when_body) when_body();
  }
  void on_end(Result<void> result) override {
    ++ends;
    end = std::move(result);
    if (when_end) when_end();
  }
  bool ended() const { return ends > 0; }
  std::string reason() const { return end ? "" : end.error().reason; }
  std::string phase() const {
    if (end || end.error().fields.empty()) return "";
    return std::get<std::string>(end.error().fields.front().value);
  }

  int status = 0;
  HeaderList headers;
  std::string body;
  int ends = 0;
  Result<void> end;
  std::function<void()> when_body;
  std::function<void()> when_end;
};

class HttpCalls : public ::testing::Test {
 protected:
  CallRequest get(const Url& url) {
    CallRequest request;
    request.url = url;
    return request;
  }
  CallRequest post(const Url& url, std::string body) {
    CallRequest request = get(url);
    request.method = "POST";
    request.body = own_bytes(std::move(body));
    return request;
  }
  // Turns the loop until the fact holds.
  template <class Fact>
  bool run_until(Fact fact) {
    auto end = std::chrono::steady_clock::now() + kTestPatience;
    while (!fact()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop.turn(std::chrono::steady_clock::now() + milliseconds(20));
    }
    return true;
  }
  // Plays the peer's side, which blocks, while the loop turns here.
  template <class Play>
  bool run_beside(Play play) {
    std::atomic<bool> played = false;
    std::thread thread([&] {
      play();
      played = true;
      loop.post([] {});
    });
    bool done = run_until([&] { return played.load(); });
    thread.join();
    return done;
  }
  CallerOptions without_proxies() {
    CallerOptions options;
    options.proxies = {};
    return options;
  }

  EventLoop loop;
  HttpCaller caller{loop, without_proxies()};
  Recorder seen;
};

TEST_F(HttpCalls, GiveThePiecesAsTheyCome) {
  RawServer server;
  HttpCall call = caller.start(post(server.url("/stream?x"), "ask"), seen);
  std::unique_ptr<RawPeer> peer;
  ASSERT_TRUE(run_beside([&] {
    peer = server.accept();
    EXPECT_EQ(peer->read_head(), "POST /stream?x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                                     "\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(peer->read_until("ask"), "ask");
    peer->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n");
  }));
  ASSERT_TRUE(run_until([&] { return seen.body == "one "; }));
  EXPECT_EQ(seen.status, 200);
  EXPECT_FALSE(seen.ended());
  peer->send("4\r\ntwo \r\n");
  ASSERT_TRUE(run_until([&] { return seen.body == "one two "; }));
  EXPECT_FALSE(seen.ended());
  peer->send("0\r\n\r\n");
  ASSERT_TRUE(run_until([&] { return seen.ended(); }));
  EXPECT_TRUE(seen.end);
}

TEST_F(HttpCalls, ACancelledCallClosesAtOnceAndSaysNothing) {
  RawServer server;
  HttpCall call = caller.start(get(server.url()), seen);
  std::unique_ptr<RawPeer> peer;
  ASSERT_TRUE(run_beside([&] {
    peer = server.accept();
    peer->read_head();
    peer->send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
  }));
  ASSERT_TRUE(run_until([&] { return seen.body == "some"; }));
  call.cancel();
  EXPECT_TRUE(peer->at_end()) << "without another turn of the loop";
  loop.turn(std::chrono::steady_clock::now());
  EXPECT_EQ(seen.ends, 0);
}

TEST_F(HttpCalls, AnObserverMayDropItsCall) {
  RawServer server;
  std::optional<HttpCall> call(caller.start(get(server.url()), seen));
  seen.when_body = [&] { call.reset(); };
  ASSERT_TRUE(run_beside([&] {
    auto peer = server.accept();
    peer->read_head();
    peer->send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
    EXPECT_TRUE(peer->at_end());
  }));
  EXPECT_EQ(seen.body, "a");
  EXPECT_EQ(seen.ends, 0);
}

TEST_F(HttpCalls, APausedCallHoldsThePeerBack) {
  constexpr std::size_t kBytes = 64 << 20;  // more than all buffers between the two
  RawServer server;
  HttpCall call;
  seen.when_body = [&] { call.pause(); };
  call = caller.start(get(server.url()), seen);
  std::unique_ptr<RawPeer> peer;
  std::size_t taken = 0;
  ASSERT_TRUE(run_beside([&] {
    peer = server.accept();
    peer->read_head();
    peer->send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kBytes) + "\r\n\r\n");
  }));
  ASSERT_TRUE(run_until([&] {
    taken += peer->send_until_full(kBytes - taken);
    return !seen.body.empty();
  }));
  std::size_t before = seen.body.size();
  for (int i = 0; i < 10; ++i) {
    taken += peer->send_until_full(kBytes - taken);
    loop.turn(std::chrono::steady_clock::now() + milliseconds(1));
  }
  EXPECT_EQ(seen.body.size(), before);
  ASSERT_LT(taken, kBytes);
  seen.when_body = nullptr;
  call.resume();
  ASSERT_TRUE(run_until([&] {
    taken += peer->send_until_full(kBytes - taken);
    return seen.ended();
  }));
  EXPECT_TRUE(seen.end);
  EXPECT_EQ(seen.body.size(), kBytes);
}

TEST_F(HttpCalls, KeepTheirConnection) {
  TestServer test;
  test.start();
  Url url{false, "127.0.0.1", std::to_string(test.server->port()), "/"};
  for (int i = 0; i < 3; ++i) {
    Recorder each;
    HttpCall call = caller.start(post(url, std::to_string(i)), each);
    ASSERT_TRUE(run_until([&] { return each.ended(); }));
    EXPECT_EQ(each.body, "POST / " + std::to_string(i));
  }
  EXPECT_EQ(test.counter("shepherd_connections_accepted_total"), 1u);
}

TEST_F(HttpCalls, TheNextCallMayStartAtTheEndOfTheLast) {
  TestServer test;
  test.start();
  Url url{false, "127.0.0.1", std::to_string(test.server->port()), "/"};
  Recorder second;
  HttpCall next;
  seen.when_end = [&] { next = caller.start(get(url), second); };
  HttpCall call = caller.start(get(url), seen);
  ASSERT_TRUE(run_until([&] { return second.ended(); }));
  EXPECT_EQ(second.body, "GET / ");
  EXPECT_EQ(test.counter("shepherd_connections_accepted_total"), 1u);
}

// Answers one request on a fresh connection, then ends it when the next request arrives.
void answer_once_then_hang_up(RawServer& server) {
  auto peer = server.accept();
  peer->read_head();
  peer->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  peer->read_head();
}

TEST_F(HttpCalls, ARepeatableRequestIsSentAgainWhenAKeptConnectionEnds) {
  RawServer server;
  HttpCall first = caller.start(get(server.url("/1")), seen);
  Recorder second;
  HttpCall call;
  seen.when_end = [&] { call = caller.start(get(server.url("/2")), second); };
  ASSERT_TRUE(run_beside([&] {
    answer_once_then_hang_up(server);
    auto fresh = server.accept();
    EXPECT_TRUE(fresh->read_head().starts_with("GET /2 "));
    fresh->send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain");
  }));
  ASSERT_TRUE(run_until([&] { return second.ended(); }));
  EXPECT_EQ(second.body, "again");
}

TEST_F(HttpCalls, AnotherRequestIsNot) {
  RawServer server;
  HttpCall first = caller.start(post(server.url("/1"), ""), seen);
  Recorder second;
  HttpCall call;
  seen.when_end = [&] { call = caller.start(post(server.url("/2"), ""), second); };
  ASSERT_TRUE(run_beside([&] { answer_once_then_hang_up(server); }));
  ASSERT_TRUE(run_until([&] { return second.ended(); }));
  EXPECT_EQ(second.reason(), "unreachable");
  EXPECT_TRUE(server.nobody_connects());
}

TEST_F(HttpCalls, AConnectionWithUnaskedBytesIsNotKept) {
  RawServer server;
  HttpCall call = caller.start(get(server.url()), seen);
  ASSERT_TRUE(run_beside([&] {
    auto peer = server.accept();
    peer->read_head();
    peer->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    EXPECT_TRUE(peer->at_end());
  }));
  EXPECT_TRUE(seen.end);
  EXPECT_EQ(seen.body, "ok");
}

TEST_F(HttpCalls, AnEarlyAnswerIsReadWhileTheBodyIsStillBeingSent) {
  RawServer server;
  HttpCall call = caller.start(post(server.url(), std::string(64 << 20, 'x')), seen);
  std::unique_ptr<RawPeer> peer;
  ASSERT_TRUE(run_beside([&] {
    peer = server.accept();
    peer->read_head();
    peer->send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  }));
  ASSERT_TRUE(run_until([&] { return seen.ended(); }));
  EXPECT_EQ(seen.status, 413);
  EXPECT_EQ(seen.body, "no");
}

// The server has closed with bytes unread, so its kernel resets the connection and our next write fails.
TEST_F(HttpCalls, AnAnswerIsReadAlsoIfSendingFailed) {
  RawServer server;
  HttpCall call = caller.start(post(server.url(), std::string(64 << 20, 'x')), seen);
  std::unique_ptr<RawPeer> peer;
  ASSERT_TRUE(run_beside([&] {
    peer = server.accept();
    peer->read_head();
  }));
  peer->send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  peer->close();
  ASSERT_TRUE(run_until([&] { return seen.ended(); }));
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.status, 413);
}

TEST_F(HttpCalls, AnAnswerThatIsNotWholeIsAnError) {
  for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200", "nonsense\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    RawServer server;
    Recorder each;
    HttpCall call = caller.start(get(server.url()), each);
    ASSERT_TRUE(run_beside([&] {
      auto peer = server.accept();
      peer->read_head();
      peer->send(bytes);
    }));
    ASSERT_TRUE(run_until([&] { return each.ended(); }));
    EXPECT_EQ(each.reason(), "bad_response") << bytes;
  }
}

TEST_F(HttpCalls, ABodyMayEndWithTheConnection) {
  RawServer server;
  HttpCall call = caller.start(get(server.url()), seen);
  ASSERT_TRUE(run_beside([&] {
    auto peer = server.accept();
    peer->read_head();
    peer->send("HTTP/1.1 200 OK\r\n\r\nto the end");
  }));
  ASSERT_TRUE(run_until([&] { return seen.ended(); }));
  EXPECT_TRUE(seen.end);
  EXPECT_EQ(seen.body, "to the end");
}

TEST_F(HttpCalls, ATimeOutNamesItsPhaseAndThePeer) {
  constexpr milliseconds kShort{40};
  RawServer silent;
  RawServer full(0);
  full.fill_queue();
  struct Case {
    const char* phase;
    CallRequest request;
    const char* answer = "";
  };
  std::vector<Case> cases;
  cases.push_back({"connect", get(full.url())});
  cases.back().request.timeouts.connect = kShort;
  cases.push_back({"tls", get(silent.url())});
  cases.back().request.url.secure = true;
  cases.back().request.timeouts.tls = kShort;
  cases.push_back({"send", post(silent.url(), std::string(64 << 20, 'x'))});
  cases.back().request.timeouts.send = kShort;
  cases.push_back({"first_byte", get(silent.url())});
  cases.back().request.timeouts.first_byte = kShort;
  cases.push_back({"first_byte", get(silent.url())});
  cases.back().request.timeouts.whole = kShort;
  cases.push_back({"idle", get(silent.url()), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"});
  cases.back().request.timeouts.idle = kShort;
  for (Case& each : cases) {
    Recorder recorder;
    std::string peer_name = host_header(each.request.url);
    bool connects = std::string_view(each.phase) != "connect";
    HttpCall call = caller.start(std::move(each.request), recorder);
    std::unique_ptr<RawPeer> peer;
    if (connects) {
      ASSERT_TRUE(run_beside([&] {
        peer = silent.accept();
        if (*each.answer == '\0') return;
        peer->read_head();
        peer->send(each.answer);
      }));
    }
    ASSERT_TRUE(run_until([&] { return recorder.ended(); })) << each.phase;
    EXPECT_EQ(recorder.reason(), "timed_out");
    EXPECT_EQ(recorder.phase(), each.phase);
    EXPECT_NE(recorder.end.error().message.find(peer_name), std::string::npos) << recorder.end.error().message;
  }
}

TEST_F(HttpCalls, ARequestThatWouldNotStayInItsPlaceIsNotSent) {
  RawServer server;
  std::vector<CallRequest> bad(4, get(server.url()));
  bad[0].headers = {{"X", "a\r\nEvil: b"}};
  bad[1].headers = {{"X Y", "a"}};
  bad[2].headers = {{"Content-Length", "3"}};
  bad[3].url.target = "/a b";
  for (const CallRequest& request : bad) {
    Recorder each;
    HttpCall call = caller.start(request, each);
    EXPECT_FALSE(each.ended()) << "the observer is not called inside start()";
    ASSERT_TRUE(run_until([&] { return each.ended(); }));
    EXPECT_EQ(each.reason(), "bad_request");
  }
  EXPECT_TRUE(server.nobody_connects());
}

TEST_F(HttpCalls, ARefusedAddressIsNotConnectedTo) {
  RawServer server;
  std::vector<std::string> asked;
  CallerOptions options = without_proxies();
  options.allowed = [&](std::string_view address) {
    asked.emplace_back(address);
    return false;
  };
  HttpCaller careful(loop, std::move(options));
  for (const char* host : {"127.0.0.1", "2130706433", "::ffff:127.0.0.1"}) {  // resolvers take a number for an address
    Recorder each;
    Url url = server.url();
    url.host = host;
    HttpCall call = careful.start(get(url), each);
    ASSERT_TRUE(run_until([&] { return each.ended(); }));
    EXPECT_EQ(each.reason(), "refused_address") << host;
    EXPECT_EQ(asked.back(), "127.0.0.1");
  }
  EXPECT_TRUE(server.nobody_connects());
}

// One of the addresses takes connections and one does not even refuse them.
TEST_F(HttpCalls, ASlowAddressDoesNotDelayTheNext) {
  RawServer good(64, "127.0.0.2");
  RawServer slow(0, "127.0.0.1", good.port());
  slow.fill_queue();
  Timers timers(loop, nullptr);
  std::optional<Result<ClientSocket::Owner>> dialed;
  Dialing dialing(loop, timers, slow.url(), DialOptions{}, [&](auto result) { dialed = std::move(result); });
  dialing.start({*literal_address(slow.url()), *literal_address(good.url())});
  auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_until([&] { return dialed.has_value(); }));
  ASSERT_TRUE(*dialed) << dialed->error().message;
  EXPECT_LT(std::chrono::steady_clock::now() - began, kDialDeadline / 2);
  EXPECT_NE(good.accept(), nullptr);
}

TEST_F(HttpCalls, AThousandWaitingCallsNeedNoThread) {
  constexpr std::size_t kCalls = 1'000;
  auto threads = [] {
    auto tasks = std::filesystem::directory_iterator("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  std::mutex mutex;
  std::vector<Responder> waiting;
  TestServer test;
  test.handler.on_request = [&](Request&&, Responder responder) {
    std::lock_guard lock(mutex);
    waiting.push_back(std::move(responder));
  };
  test.start();
  auto held = [&] {
    std::lock_guard lock(mutex);
    return waiting.size();
  };
  Url url{false, "127.0.0.1", std::to_string(test.server->port()), "/"};
  auto before = threads();
  std::vector<std::unique_ptr<Recorder>> recorders;
  std::vector<HttpCall> calls;
  for (std::size_t i = 0; i < kCalls; ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    calls.push_back(caller.start(get(url), *recorders.back()));
  }
  ASSERT_TRUE(run_until([&] { return held() == kCalls; }));
  EXPECT_EQ(threads(), before);
  for (Responder& responder : waiting) responder.send({200, "text/plain", {}, "done", false});
  waiting.clear();
  ASSERT_TRUE(run_until([&] {
    return std::ranges::all_of(recorders, [](const auto& each) { return each->ended() && each->body == "done"; });
  }));
}

TEST_F(HttpCalls, AWholeAnswerIsGatheredUpToItsBound) {
  TestServer test;
  test.handler.on_request = [](Request&&, Responder responder) {
    responder.send({201, "text/plain", {{"X-A", "b"}}, std::string(1'000, 'x'), false});
  };
  test.start();
  Url url{false, "127.0.0.1", std::to_string(test.server->port()), "/"};
  auto gathered = [&](std::size_t most, bool status_only) {
    std::optional<Result<ClientResponse>> result;
    HttpCall call;
    WholeAnswer answer({.max_response_bytes = most, .status_only = status_only}, [&](Result<ClientResponse> given) {
      result = std::move(given);
      call.cancel();
    });
    call = caller.start(get(url), answer);
    EXPECT_TRUE(run_until([&] { return result.has_value(); }));
    return *std::move(result);
  };
  auto whole = gathered(1'000, false);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->status, 201);
  EXPECT_EQ(whole->header("x-a"), "b");
  EXPECT_EQ(whole->body.size(), 1'000u);
  auto large = gathered(999, false);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().reason, "bad_response");
  auto cut = gathered(999, true);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->status, 201);
}

TEST(HttpCallsOfALoop, EndWithIt) {
  RawServer server;
  IoThreads io(1);
  Recorder seen;
  std::optional<HttpCaller> caller;
  std::optional<HttpCall> call;
  EventLoop& loop = io.loop(0);
  loop.post([&] {
    caller.emplace(loop, CallerOptions{});
    call = caller->start({"GET", server.url(), {}, {}, {}}, seen);
  });
  auto peer = server.accept();
  peer->read_head();
  io.stop();
  EXPECT_TRUE(peer->at_end());
  EXPECT_EQ(seen.ends, 1);
  EXPECT_EQ(seen.reason(), "cancelled");
}

}  // namespace
}  // namespace shepherd::net
