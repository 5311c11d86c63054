#include "net/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/raw_server_for_test.h"
#include "net/server_for_test.h"
#include "net/websocket_frame.h"

namespace shepherd::net {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{10'000};

Url local(std::uint16_t port, const std::string& target = "/") {
  return {false, "127.0.0.1", std::to_string(port), target};
}

// A port without a listener: bound, so that no other process gets it, but not listening.
class ClosedPort {
 public:
  ClosedPort() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~ClosedPort() { ::close(fd_); }
  std::uint16_t port() const { return port_; }
  void listen() { ::listen(fd_, 16); }  // from now on connections succeed and are never answered

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

TEST(ParseUrl, TakesThemApart) {
  auto url = parse_url("http://example.org");
  ASSERT_TRUE(url);
  EXPECT_FALSE(url->secure);
  EXPECT_EQ(url->host, "example.org");
  EXPECT_EQ(url->port, "80");
  EXPECT_EQ(url->target, "/");
  url = parse_url("WSS://[::1]:8443/a/b?c=d#e");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->target, "/a/b?c=d");
  url = parse_url("https://h?x=1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->port, "443");
  EXPECT_EQ(url->target, "/?x=1");
}

TEST(ParseUrl, RefusesTheRest) {
  for (const char* url :
       {"", "example.org", "ftp://h/", "http://", "http:///x", "http://u:p@h/", "http://h:0/", "http://h:99999/",
        "http://h:x/", "http://[::1", "http://[::1]x", "http://h/a b", "http://h/\n"}) {
    auto parsed = parse_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().reason, "bad_url");
  }
}

TEST(HttpClient, SendsAndReadsHeadersAndBodies) {
  TestServer test;
  test.handler.on_request = [](Request&& request, Responder responder) {
    responder.send(
        {201,
         "text/plain",
         {{"X-Seen", std::string(request.header("x-mine"))}, {"X-Host", std::string(request.header("host"))}},
         request.method + request.target + request.body,
         false});
  };
  test.start();
  HttpClient client(local(test.server->port()));
  auto response = client.request("PUT", "/x?y=z", {{"X-Mine", "m"}}, "body", kTimeout);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "PUT/x?y=zbody");
  EXPECT_EQ(response->header("x-seen"), "m");
  EXPECT_EQ(response->header("x-host"), "127.0.0.1:" + std::to_string(test.server->port()));
  auto head = client.request("HEAD", "/", {}, "", kTimeout);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(test.counter("shepherd_connections_accepted_total"), 1u);
}

TEST(HttpClient, AnErrorStatusIsAResponse) {
  TestServer test;
  test.handler.on_request = [](Request&&, Responder responder) {
    responder.send({503, "text/plain", {}, "later", true});
  };
  test.start();
  auto response = HttpClient(local(test.server->port())).request("POST", "/", {}, "", kTimeout);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
}

TEST(HttpClient, ReconnectsWhenTheIdleConnectionWasClosed) {
  TestServer test;
  test.options.deadlines.idle = milliseconds(20);
  test.start();
  HttpClient client(local(test.server->port()));
  ASSERT_TRUE(client.request("POST", "/", {}, "1", kTimeout));
  ASSERT_TRUE(eventually([&] { return test.gauge("shepherd_connections") == 0; }));
  auto second = client.request("POST", "/", {}, "2", kTimeout);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->body, "POST / 2");
}

TEST(HttpClient, SaysWhenNobodyIsThere) {
  ClosedPort closed;
  auto response = HttpClient(local(closed.port())).request("GET", "/", {}, "", kTimeout);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
  EXPECT_EQ(response.error().reason, "unreachable");
}

TEST(HttpClient, GivesUpAtItsDeadline) {
  ClosedPort silent;
  silent.listen();
  auto response = HttpClient(local(silent.port())).request("GET", "/", {}, "", milliseconds(50));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, "timed_out");
}

TEST(HttpClient, TriesEveryAddressOfAName) {
  TestServer test;  // IPv4 only, while "localhost" often resolves to ::1 first
  test.start();
  Url url = local(test.server->port());
  url.host = "localhost";
  auto response = HttpClient(url).request("GET", "/", {}, "", kTimeout);
  ASSERT_TRUE(response) << response.error().message;
  url.host = "no-such-host.invalid";
  response = HttpClient(url).request("GET", "/", {}, "", kTimeout);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::unavailable);
}

TEST(WebSocketClient, TalksToTheServer) {
  TestServer test;
  auto probe = std::make_shared<StreamProbe>();
  std::string offered;
  test.handler.on_request = [&](Request&& request, Responder responder) {
    offered = request.header("sec-websocket-protocol");
    responder.upgrade("shepherd.v1", {}, probe);
  };
  test.start();
  auto client = WebSocketClient::connect(local(test.server->port(), "/w"),
                                         {{"Sec-WebSocket-Protocol", "shepherd.v1, bearer.abc"}}, kTimeout);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(offered, "shepherd.v1, bearer.abc");

  auto nothing = client->read(milliseconds(20));
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->has_value());
  probe->run([](StreamConnection& connection) {
    std::string frames;
    append_frame(frames, Opcode::text, "one");
    append_frame(frames, Opcode::text, "two");
    const std::array<ByteSpan, 1> spans{own_bytes(std::move(frames))};
    connection.write(spans);
  });
  EXPECT_EQ(client->read(kTimeout).value(), "one");
  EXPECT_EQ(client->read(kTimeout).value(), "two");
  ASSERT_TRUE(client->send("hello"));
  ASSERT_TRUE(probe->wait_messages(1));
  EXPECT_EQ(probe->messages().front(), "hello");

  probe->run([](StreamConnection& connection) { connection.finish(4001, "revoked"); });
  auto end = client->read(kTimeout);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, "closed");
  ASSERT_TRUE(client->closed());
  EXPECT_EQ(client->closed()->code, 4001);
  EXPECT_EQ(client->closed()->reason, "revoked");
  EXPECT_FALSE(client->send("too late"));
}

TEST(WebSocketClient, AnswersPingsWhileItReads) {
  TestServer test;
  test.options.deadlines.keep_alive = milliseconds(30);
  auto probe = std::make_shared<StreamProbe>();
  test.handler.on_request = [&](Request&&, Responder responder) { responder.upgrade("", {}, probe); };
  test.start();
  auto client = WebSocketClient::connect(local(test.server->port()), {}, kTimeout);
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->read(milliseconds(300)));  // ten keep-alives; a peer without pongs would be cut after three
  EXPECT_FALSE(client->closed());
  EXPECT_EQ(test.gauge("shepherd_streams_open"), 1);
}

TEST(WebSocketClient, ClosesInOrder) {
  TestServer test;
  auto probe = std::make_shared<StreamProbe>();
  test.handler.on_request = [&](Request&&, Responder responder) { responder.upgrade("", {}, probe); };
  test.start();
  auto client = WebSocketClient::connect(local(test.server->port()), {}, kTimeout);
  ASSERT_TRUE(client);
  ASSERT_TRUE(client->read(milliseconds(1)));  // a pending read must not block the close
  client->close();
  EXPECT_EQ(probe->wait_closed(), CloseCause::peer);
  EXPECT_EQ(test.counter("shepherd_protocol_errors_total"), 0u);
}

TEST(WebSocketClient, ARefusalCarriesTheServersWords) {
  TestServer test;
  test.handler.on_request = [](Request&&, Responder responder) {
    responder.send({409,
                    "application/problem+json",
                    {},
                    R"({"title":"Conflict","code":"cursor_ahead","detail":"the log ends at 7"})",
                    false});
  };
  test.start();
  auto client = WebSocketClient::connect(local(test.server->port()), {}, kTimeout);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::conflict);
  EXPECT_EQ(client.error().reason, "cursor_ahead");
  EXPECT_EQ(client.error().message, "the log ends at 7");
  ASSERT_EQ(client.error().fields.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(client.error().fields[0].value), 409);

  test.handler.on_request = [](Request&&, Responder responder) {
    responder.send({404, "text/plain", {}, "no", false});
  };
  client = WebSocketClient::connect(local(test.server->port()), {}, kTimeout);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::not_found);
  EXPECT_EQ(client.error().reason, "handshake_refused");
}

TEST(WebSocketClient, AnotherThreadEndsItsWaiting) {
  TestServer test;
  auto probe = std::make_shared<StreamProbe>();
  test.handler.on_request = [&](Request&&, Responder responder) { responder.upgrade("", {}, probe); };
  test.start();
  auto client = WebSocketClient::connect(local(test.server->port()), {}, kTimeout);
  ASSERT_TRUE(client);
  auto began = std::chrono::steady_clock::now();
  std::thread other([&] { client->wake(); });
  auto nothing = client->read(kTimeout);
  other.join();
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - began, kTimeout / 2);
}

TEST(WebSocketClient, AHandshakeWithTheWrongKeyIsNoWebSocket) {
  RawServer server;
  std::thread play([&] {
    auto peer = server.accept();
    std::string head = peer->read_head();
    EXPECT_NE(head.find("Sec-WebSocket-Version: 13\r\n"), std::string::npos);
    peer->send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
    peer->at_end();
  });
  auto client = WebSocketClient::connect(server.url(), {}, kTimeout);
  play.join();
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().reason, "unreachable");
}

TEST(WebSocketClient, SaysWhatItReadBeforeTheConnectionBroke) {
  TestServer test;
  auto probe = std::make_shared<StreamProbe>();
  test.handler.on_request = [&](Request&&, Responder responder) { responder.upgrade("", {}, probe); };
  test.start();
  auto client = WebSocketClient::connect(local(test.server->port()), {}, kTimeout);
  ASSERT_TRUE(client);
  probe->run([](StreamConnection& connection) {
    std::string frames;
    append_frame(frames, Opcode::text, "one");
    append_frame(frames, Opcode::text, "two");
    const std::array<ByteSpan, 1> spans{own_bytes(std::move(frames))};
    connection.write(spans);
    connection.finish(4000, "enough");
  });
  ASSERT_TRUE(probe->wait_closed());
  EXPECT_EQ(client->read(kTimeout).value(), "one");
  EXPECT_FALSE(client->closed()) << "a message is still to be read";
  EXPECT_EQ(client->read(kTimeout).value(), "two");
  EXPECT_FALSE(client->read(kTimeout));
  ASSERT_TRUE(client->closed());
  EXPECT_EQ(client->closed()->code, 4000);
}

TEST(WebSocketClient, GivesUpAtItsDeadline) {
  ClosedPort silent;
  silent.listen();
  auto client = WebSocketClient::connect(local(silent.port()), {}, milliseconds(50));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().reason, "timed_out");
}

}  // namespace
}  // namespace shepherd::net
