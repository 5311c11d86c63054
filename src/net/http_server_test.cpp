#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "net/limits.h"
#include "net/server_for_test.h"

namespace shepherd::net {
namespace {

using std::chrono::milliseconds;

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(const std::string& target, const std::string& body, const std::string& headers = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// A handler that keeps responders until the test answers them from its own thread.
class Parked {
 public:
  void park(Request&& request, Responder responder) {
    std::lock_guard lock(mutex_);
    parked_.emplace_back(std::move(request.target), std::move(responder));
    changed_.notify_all();
  }
  bool wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestPatience, [&] { return parked_.size() >= count; });
  }
  std::vector<std::pair<std::string, Responder>> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(parked_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, Responder>> parked_;
};

TEST(HttpServer, KeepsTheConnectionAlive) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(post("/p", "body" + std::to_string(i))));
    RawResponse response = client.read_response();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /p body" + std::to_string(i));
    EXPECT_NE(response.head.find("Date: "), std::string::npos);
  }
  EXPECT_EQ(test.gauge("shepherd_connections"), 1);
  EXPECT_TRUE(test.server->url().starts_with("http://127.0.0.1:"));
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  std::string requests;
  for (int i = 0; i < 2'000; ++i) requests += post("/" + std::to_string(i), std::string(i % 100, 'x'));
  std::thread sender([&] { client.send(requests); });
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_EQ(client.read_response().body, "POST /" + std::to_string(i) + " " + std::string(i % 100, 'x'));
  }
  sender.join();
}

TEST(HttpServer, HandsOverOnePipelinedRequestAtATime) {
  TestServer test;
  Parked parked;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    parked.park(std::move(request), std::move(responder));
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(post("/1", "") + post("/2", "") + post("/3", "")));
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(parked.wait(1));
    auto waiting = parked.take();
    ASSERT_EQ(waiting.size(), 1u);
    EXPECT_EQ(waiting[0].first, "/" + std::to_string(i));
    waiting[0].second.send({200, "text/plain", {}, waiting[0].first, false});
    EXPECT_EQ(client.read_response().body, "/" + std::to_string(i));
  }
}

TEST(HttpServer, ReadsARequestThatComesByteByByte) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  std::string request = post("/slow", "hello") + "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                        "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n";
  for (char byte : request) ASSERT_TRUE(client.send({&byte, 1}));
  EXPECT_EQ(client.read_response().body, "POST /slow hello");
  EXPECT_EQ(client.read_response().body, "POST /c abcde");
}

TEST(HttpServer, SendsContinueBeforeTheBodyComes) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("ok"));
  EXPECT_EQ(client.read_response().body, "POST / ok");
}

TEST(HttpServer, RefusesALargeBodyBeforeItComes) {
  TestServer test;
  test.handler.on_admit = [](const Request&) { return Admission{10, {}}; };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n"));
  RawResponse response = client.read_response();
  EXPECT_EQ(response.status, 413);
  EXPECT_NE(response.head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(test.counter("shepherd_protocol_errors_total"), 1u);
}

// The answer to a refused upload must survive the bytes that still arrive; closing at once would reset the connection.
TEST(HttpServer, TheRefusalReachesAClientThatGoesOnSending) {
  TestServer test;
  test.handler.on_admit = [](const Request&) {
    return Admission{0, Response{401, "text/plain", {}, "who are you", false}};
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n"));
  ASSERT_TRUE(client.send(std::string(50'000'000, 'x')));  // more than the kernel's buffers hold
  EXPECT_EQ(client.read_response().body, "who are you");
}

TEST(HttpServer, AnswersBrokenInputAndCloses) {
  TestServer test;
  test.start();
  const std::vector<std::pair<std::string, int>> cases{
      {"hello\r\n\r\n", 400},
      {"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /" + std::string(kMaxHeaderBytes, 'a'), 414},
      {"GET / HTTP/1.1\r\nA: " + std::string(kMaxHeaderBytes, 'a'), 431},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
  };
  for (const auto& [bytes, status] : cases) {
    RawClient client(test.server->port());
    ASSERT_TRUE(client.send(bytes));
    EXPECT_EQ(client.read_response().status, status) << bytes.substr(0, 60);
    EXPECT_TRUE(client.at_end());
  }
  EXPECT_EQ(test.counter("shepherd_protocol_errors_total"), cases.size());
}

// The server must never handle a smuggled second request.
TEST(HttpServer, NothingFollowsARefusedRequest) {
  TestServer test;
  std::atomic<int> handled{0};
  test.handler.on_request = [&](Request&&, Responder responder) {
    ++handled;
    responder.send({200, "text/plain", {}, "", false});
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + kGet));
  EXPECT_EQ(client.read_response().status, 400);
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(handled, 0);
}

TEST(HttpServer, HeadHasTheLengthButNoBody) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n" + kGet));
  RawResponse head = client.read_response(false);
  EXPECT_NE(head.head.find("Content-Length: 8\r\n"), std::string::npos) << head.head;
  EXPECT_EQ(client.read_response().body, "GET /a ");
}

TEST(HttpServer, NoContentHasNeitherLengthNorBody) {
  TestServer test;
  test.handler.on_request = [](Request&&, Responder responder) { responder.send({204, "", {}, "ignored", false}); };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGet + kGet));
  for (int i = 0; i < 2; ++i) {
    RawResponse response = client.read_response();
    EXPECT_EQ(response.status, 204);
    EXPECT_EQ(response.head.find("Content-Length"), std::string::npos);
  }
}

TEST(HttpServer, ClosesWhenAskedTo) {
  TestServer test;
  test.start();
  for (const char* request : {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"}) {
    RawClient client(test.server->port());
    ASSERT_TRUE(client.send(request));
    RawResponse response = client.read_response();
    EXPECT_EQ(response.body, "GET / ");
    EXPECT_NE(response.head.find("Connection: close"), std::string::npos);
    EXPECT_TRUE(client.at_end());
  }
  RawClient old(test.server->port());
  ASSERT_TRUE(old.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_NE(old.read_response().head.find("Connection: keep-alive"), std::string::npos);
  ASSERT_TRUE(old.send("GET /2 HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(old.read_response().body, "GET /2 ");
}

TEST(HttpServer, AnswersAClientThatHasEndedItsOutput) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGet));
  client.end_output();
  EXPECT_EQ(client.read_response().body, "GET /a ");
  EXPECT_TRUE(client.at_end());
}

TEST(HttpServer, HeaderValuesCannotSplitTheResponse) {
  TestServer test;
  test.handler.on_request = [](Request&&, Responder responder) {
    responder.send({200, "text/plain", {{"X-Echo", "a\r\nSet-Cookie: evil"}}, "", false});
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGet));
  EXPECT_EQ(client.read_response().head.find("\r\nSet-Cookie"), std::string::npos);
}

TEST(HttpServer, SlowHeadersGet408) {
  TestServer test;
  test.options.deadlines.header = milliseconds(50);
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHo"));
  EXPECT_EQ(client.read_response().status, 408);
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(test.counter("shepherd_deadline_closes_total"), 1u);
}

TEST(HttpServer, SlowBodiesGet408) {
  TestServer test;
  test.options.deadlines.body = milliseconds(50);
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"));
  EXPECT_EQ(client.read_response().status, 408);
  EXPECT_TRUE(client.at_end());
}

TEST(HttpServer, IdleConnectionsAreClosedWithoutAWord) {
  TestServer test;
  test.options.deadlines.idle = milliseconds(50);
  test.start();
  RawClient fresh(test.server->port());
  EXPECT_TRUE(fresh.at_end());
  RawClient used(test.server->port());
  ASSERT_TRUE(used.send(kGet));
  EXPECT_EQ(used.read_response().status, 200);
  EXPECT_TRUE(used.at_end());
}

// A model can be silent for minutes. Meanwhile nothing may end the connection of the client that waits.
TEST(HttpServer, ARequestWhoseAnswerTakesLongIsNotIdle) {
  TestServer test;
  test.options.deadlines.idle = test.options.deadlines.header = test.options.deadlines.body = milliseconds(50);
  Parked parked;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    parked.park(std::move(request), std::move(responder));
  };
  test.start();
  RawClient waiting(test.server->port());
  ASSERT_TRUE(waiting.send(post("/late", "prompt")));
  ASSERT_TRUE(parked.wait(1));
  for (int i = 0; i < 2; ++i) {  // the end of a connection that came later proves that the deadline has passed
    RawClient fresh(test.server->port());
    EXPECT_TRUE(fresh.at_end());
  }
  for (auto& [target, responder] : parked.take()) responder.send({200, "text/plain", {}, target, false});
  EXPECT_EQ(waiting.read_response().body, "/late");
}

TEST(HttpServer, APeerThatTakesNothingIsCut) {
  TestServer test;
  test.options.deadlines.write = milliseconds(100);
  test.handler.on_request = [](Request&&, Responder responder) {
    responder.send({200, "text/plain", {}, std::string(32 << 20, 'x'), false});
  };
  test.start();
  RawClient client(test.server->port(), 4'096);
  ASSERT_TRUE(client.send(kGet));
  EXPECT_TRUE(eventually([&] { return test.counter("shepherd_write_deadline_closes_total") == 1; }));
  EXPECT_TRUE(eventually([&] { return test.gauge("shepherd_connections") == 0; }));
}

TEST(HttpServer, SendsLargeBodiesWhole) {
  TestServer test;
  test.handler.on_request = [](Request&& request, Responder responder) {
    responder.send({200, "text/plain", {}, std::string(8 << 20, request.target[1]), false});
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(client.read_response().body, std::string(8 << 20, 'a'));
  EXPECT_EQ(client.read_response().body, std::string(8 << 20, 'b'));
  EXPECT_TRUE(eventually([&] { return test.counter("shepherd_sent_bytes_total") > (16u << 20); }));
}

TEST(HttpServer, TakesLargeBodies) {
  TestServer test;
  test.handler.on_admit = [](const Request&) { return Admission{kMaxBodyBytes, {}}; };
  test.handler.on_request = [](Request&& request, Responder responder) {
    responder.send({200, "text/plain", {}, std::to_string(request.body.size()), false});
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(post("/", std::string(5 << 20, 'x'))));
  EXPECT_EQ(client.read_response().body, std::to_string(5 << 20));
}

TEST(HttpServer, AnyThreadMayAnswer) {
  TestServer test;
  Parked parked;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    parked.park(std::move(request), std::move(responder));
  };
  test.start();
  constexpr std::size_t kClients = 50;
  std::vector<std::unique_ptr<RawClient>> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<RawClient>(test.server->port()));
    ASSERT_TRUE(clients.back()->send(post("/" + std::to_string(i), "")));
  }
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(parked.wait(kClients));
    for (auto& [target, responder] : parked.take()) responder.send({200, "text/plain", {}, target, false});
    for (std::size_t i = 0; i < kClients; ++i) {
      ASSERT_EQ(clients[i]->read_response().body, "/" + std::to_string(i));
      ASSERT_TRUE(clients[i]->send(post("/" + std::to_string(i), "")));
    }
  }
  ASSERT_TRUE(parked.wait(kClients));
}

TEST(HttpServer, ADroppedResponderIsA500) {
  TestServer test;
  test.handler.on_request = [](Request&&, Responder) {};
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGet + kGet));
  for (int i = 0; i < 2; ++i) {
    RawResponse response = client.read_response();
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body, "no_answer");
  }
}

TEST(HttpServer, AnAnswerForAPeerThatLeftIsDropped) {
  TestServer test;
  Parked parked;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    parked.park(std::move(request), std::move(responder));
  };
  test.start();
  {
    RawClient client(test.server->port());
    ASSERT_TRUE(client.send(kGet));
    ASSERT_TRUE(parked.wait(1));
    client.reset();
  }
  EXPECT_TRUE(eventually([&] { return test.gauge("shepherd_connections") == 0; }));
  for (auto& [target, responder] : parked.take()) responder.send({200, "text/plain", {}, target, false});
}

TEST(HttpServer, TheSlotLivesWithTheConnection) {
  TestServer test;
  test.handler.on_request = [](Request&& request, Responder responder) {
    auto count = std::static_pointer_cast<int>(*request.connection_slot);
    if (!count) *request.connection_slot = count = std::make_shared<int>(0);
    responder.send({200, "text/plain", {}, std::to_string(++*count), false});
  };
  test.start();
  RawClient one(test.server->port());
  RawClient two(test.server->port());
  ASSERT_TRUE(one.send(kGet + kGet));
  ASSERT_TRUE(two.send(kGet));
  EXPECT_EQ(one.read_response().body, "1");
  EXPECT_EQ(one.read_response().body, "2");
  EXPECT_EQ(two.read_response().body, "1");
}

TEST(HttpServer, TooManyConnectionsGet503) {
  TestServer test;
  test.options.max_connections = 2;
  test.start();
  RawClient one(test.server->port());
  RawClient two(test.server->port());
  for (RawClient* client : {&one, &two}) {
    ASSERT_TRUE(client->send(kGet));
    EXPECT_EQ(client->read_response().status, 200);
  }
  {
    RawClient three(test.server->port());
    ASSERT_TRUE(three.send(kGet));
    EXPECT_EQ(three.read_response().status, 503);
    EXPECT_TRUE(three.at_end());
  }
  EXPECT_EQ(test.counter("shepherd_connections_refused_total"), 1u);
  one.close();
  ASSERT_TRUE(eventually([&] { return test.gauge("shepherd_connections") == 1; }));
  RawClient four(test.server->port());
  ASSERT_TRUE(four.send(kGet));
  EXPECT_EQ(four.read_response().status, 200);
}

TEST(HttpServer, ShutdownLetsRequestsInFlightFinish) {
  TestServer test(1);  // one shard, so that the idle connection's end proves that the busy one is draining, too
  Parked parked;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    parked.park(std::move(request), std::move(responder));
  };
  test.start();
  RawClient idle(test.server->port());
  RawClient busy(test.server->port());
  ASSERT_TRUE(busy.send(kGet));
  ASSERT_TRUE(parked.wait(1));
  std::thread stopper([&] { test.server->shutdown(10'000); });
  EXPECT_TRUE(idle.at_end());
  EXPECT_FALSE(RawClient(test.server->port()).connected());
  for (auto& [target, responder] : parked.take()) responder.send({200, "text/plain", {}, "done", false});
  RawResponse response = busy.read_response();
  EXPECT_EQ(response.body, "done");
  EXPECT_NE(response.head.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(busy.at_end());
  busy.close();
  stopper.join();
  EXPECT_EQ(test.gauge("shepherd_connections"), 0);
}

TEST(HttpServer, ShutdownCutsWhatDoesNotEnd) {
  TestServer test;
  Parked parked;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    parked.park(std::move(request), std::move(responder));
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGet));
  ASSERT_TRUE(parked.wait(1));
  test.server->shutdown(20);
  EXPECT_TRUE(client.at_end());
  test.server.reset();
  parked.take();  // answers to responders that outlive their server go nowhere
}

TEST(HttpServer, StoppingTheThreadsEndsEverything) {
  TestServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGet));
  EXPECT_EQ(client.read_response().status, 200);
  test.io.stop();
  EXPECT_TRUE(client.at_end());
  test.server->shutdown(10'000);
}

TEST(HttpServer, SaysWhyItCannotListen) {
  TestServer test;
  test.start();
  auto listen = [&](const std::string& address) {
    ListenOptions options;
    options.address = address;
    options.name = "other";
    auto server = HttpServer::listen(test.io, options, test.handler, test.clock, test.metrics);
    EXPECT_FALSE(server) << address;
    return server ? Error{} : server.error();
  };
  std::string taken = "127.0.0.1:" + std::to_string(test.server->port());
  Error error = listen(taken);
  EXPECT_EQ(error.reason, "address_in_use");
  EXPECT_NE(error.message.find(taken), std::string::npos);
  EXPECT_EQ(listen("127.0.0.1").reason, "bad_address");
  EXPECT_EQ(listen("127.0.0.1:http").reason, "bad_address");
  EXPECT_EQ(listen("127.0.0.1:70000").reason, "bad_address");
  EXPECT_EQ(listen("::1:80").reason, "bad_address");
  EXPECT_EQ(listen("192.0.2.1:0").reason, "bad_address");  // an address of no local interface
  EXPECT_EQ(listen(":80").reason, "bad_address");
}

}  // namespace
}  // namespace shepherd::net
