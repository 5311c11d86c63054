#include <gtest/gtest.h>

#include <numeric>

#include "net/limits.h"
#include "net/server_for_test.h"
#include "net/websocket_frame.h"

namespace shepherd::net {
namespace {

using std::chrono::milliseconds;

const std::string kHandshake =
    "GET /w HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
const std::string kGetStream = "GET /s HTTP/1.1\r\nHost: x\r\n\r\n";

std::string client_frame(unsigned first_byte, std::string_view payload) {
  std::string frame;
  append_frame_header(frame, Opcode::text, payload.size());
  frame[0] = static_cast<char>(first_byte);
  frame[1] = static_cast<char>(frame[1] | 0x80);
  frame += "mask";
  for (std::size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ "mask"[i % 4]);
  return frame;
}

std::string server_frame(Opcode opcode, std::string_view payload) {
  std::string frame;
  append_frame(frame, opcode, payload);
  return frame;
}

std::string close_frame(std::uint16_t code, std::string_view reason = "") {
  std::string frame;
  append_close_frame(frame, code, reason);
  return frame;
}

// Every request becomes a WebSocket or an event stream with its own probe.
class StreamServer : public TestServer {
 public:
  explicit StreamServer(std::size_t threads = 2) : TestServer(threads) {
    handler.on_request = [this](Request&& request, Responder responder) {
      if (request.is_websocket) {
        responder.upgrade("shepherd.v1", {{"X-Extra", "yes"}}, probe);
      } else {
        responder.stream({200, "text/event-stream", {{"Cache-Control", "no-store"}}, "", false}, probe);
      }
    };
  }
  ~StreamServer() {
    if (server) server->shutdown(0);
  }

  std::shared_ptr<StreamProbe> probe = std::make_shared<StreamProbe>();
};

class WebSocketServer : public ::testing::Test {
 protected:
  void open() {
    test.start();
    client = std::make_unique<RawClient>(test.server->port());
    ASSERT_TRUE(client->send(kHandshake));
    head = client->read_until("\r\n\r\n");
    ASSERT_TRUE(test.probe->wait_open());
  }

  StreamServer test;
  std::unique_ptr<RawClient> client;
  std::string head;
};

TEST_F(WebSocketServer, CompletesTheHandshake) {
  open();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), std::string::npos);
  EXPECT_NE(head.find("Sec-WebSocket-Protocol: shepherd.v1\r\n"), std::string::npos);
  EXPECT_NE(head.find("Connection: Upgrade\r\n"), std::string::npos);
  EXPECT_NE(head.find("X-Extra: yes\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_EQ(test.gauge("shepherd_streams_open"), 1);
}

TEST_F(WebSocketServer, CarriesMessagesBothWays) {
  open();
  test.probe->run([](StreamConnection& connection) {
    const std::array<ByteSpan, 2> spans{own_bytes(server_frame(Opcode::text, "one")),
                                        own_bytes(server_frame(Opcode::text, "two"))};
    EXPECT_TRUE(connection.write(spans));
  });
  EXPECT_EQ(client->read(10), server_frame(Opcode::text, "one") + server_frame(Opcode::text, "two"));
  ASSERT_TRUE(client->send(client_frame(0x81, "hello") + client_frame(0x01, "in ") + client_frame(0x80, "pieces")));
  ASSERT_TRUE(test.probe->wait_messages(2));
  EXPECT_EQ(test.probe->messages(), (std::vector<std::string>{"hello", "in pieces"}));
}

TEST_F(WebSocketServer, ReadsFramesThatCameWithTheHandshake) {
  test.start();
  client = std::make_unique<RawClient>(test.server->port());
  ASSERT_TRUE(client->send(kHandshake + client_frame(0x81, "early")));
  ASSERT_TRUE(test.probe->wait_messages(1));
  EXPECT_EQ(test.probe->messages().front(), "early");
}

TEST_F(WebSocketServer, AnswersPings) {
  open();
  ASSERT_TRUE(client->send(client_frame(0x89, "are you there")));
  EXPECT_EQ(client->read(15), server_frame(Opcode::pong, "are you there"));
}

TEST_F(WebSocketServer, EchoesTheClose) {
  open();
  ASSERT_TRUE(client->send(client_frame(0x88, "\x0f\xa1why")));
  EXPECT_EQ(client->read_to_end(), close_frame(4001));
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::peer);
  EXPECT_EQ(test.gauge("shepherd_streams_open"), 0);
  EXPECT_EQ(test.counter("shepherd_protocol_errors_total"), 0u);
}

TEST_F(WebSocketServer, FinishSendsWhatIsKeptThenTheClose) {
  open();
  test.probe->run([](StreamConnection& connection) {
    const std::array<ByteSpan, 1> spans{own_bytes(server_frame(Opcode::text, "last"))};
    connection.write(spans);
    connection.finish(1000, "done");
    connection.write(spans);  // too late, and harmless
    connection.finish(1001, "again");
  });
  EXPECT_EQ(client->read_to_end(), server_frame(Opcode::text, "last") + close_frame(1000, "done"));
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::finished);
  ASSERT_TRUE(client->send(client_frame(0x88, "\x03\xe8")));
  client->close();
  EXPECT_TRUE(eventually([&] { return test.gauge("shepherd_connections") == 0; }));
}

TEST_F(WebSocketServer, APeerThatIgnoresTheCloseIsLeftAfterTheLinger) {
  test.options.deadlines.linger = milliseconds(50);
  open();
  test.probe->run([](StreamConnection& connection) { connection.finish(1000, ""); });
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::finished);
  EXPECT_TRUE(eventually([&] { return test.gauge("shepherd_connections") == 0; }));
}

TEST_F(WebSocketServer, TellsAPeerHowItBrokeTheProtocol) {
  const std::vector<std::pair<std::string, int>> cases{
      {server_frame(Opcode::text, "unmasked"), 1002},
      {client_frame(0x83, "x"), 1002},
      {client_frame(0x82, "binary"), 1003},
      {client_frame(0x81, "\xff"), 1007},
      {client_frame(0x81, std::string(kMaxWebSocketMessageBytes + 1, 'x')), 1009},
  };
  test.start();
  for (const auto& [bytes, code] : cases) {
    test.probe = std::make_shared<StreamProbe>();
    RawClient peer(test.server->port());
    ASSERT_TRUE(peer.send(kHandshake));
    peer.read_until("\r\n\r\n");
    ASSERT_TRUE(peer.send(bytes));
    EXPECT_EQ(peer.read_to_end(), close_frame(static_cast<std::uint16_t>(code))) << code;
    EXPECT_EQ(test.probe->wait_closed(), CloseCause::protocol) << code;
    EXPECT_TRUE(test.probe->messages().empty());
  }
  EXPECT_EQ(test.counter("shepherd_protocol_errors_total"), cases.size());
}

TEST_F(WebSocketServer, NoticesAPeerThatLeaves) {
  open();
  client->close();
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::peer);
}

TEST_F(WebSocketServer, NoticesAReset) {
  open();
  client->reset();
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::peer);
}

TEST_F(WebSocketServer, PingsASilentPeerAndGivesUp) {
  test.options.deadlines.keep_alive = milliseconds(40);
  open();
  std::string pings = client->read_to_end();  // a half-open peer: reads everything, sends nothing
  std::string expected;
  for (int i = 0; i < kMissedPongs; ++i) expected += server_frame(Opcode::ping, "");
  EXPECT_EQ(pings, expected);
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::no_pong);
}

TEST_F(WebSocketServer, APongKeepsThePeerAlive) {
  test.options.deadlines.keep_alive = milliseconds(40);
  open();
  for (int i = 0; i < kMissedPongs + 3; ++i) {
    ASSERT_EQ(client->read(2), server_frame(Opcode::ping, ""));
    ASSERT_TRUE(client->send(client_frame(0x8a, "")));
  }
  EXPECT_EQ(test.gauge("shepherd_streams_open"), 1);
}

TEST_F(WebSocketServer, TicksWhileOpen) {
  open();
  EXPECT_TRUE(test.probe->wait_ticks(3));
}

// Keeps bytes for a consumer that does not read, without loss, and reports when they are sent.
TEST_F(WebSocketServer, KeepsWhatASlowConsumerDoesNotTake) {
  std::atomic<bool> filled{false};
  constexpr std::size_t kFrames = 2'000;
  std::string expected;
  std::vector<ByteSpan> spans;
  for (std::size_t i = 0; i < kFrames; ++i) {
    std::string frame = server_frame(Opcode::text, std::to_string(i) + std::string(8'000, 'x'));
    expected += frame;
    spans.push_back(own_bytes(std::move(frame)));
  }
  std::weak_ptr<const void> newest = spans.back().owner;
  std::weak_ptr<const void> oldest = spans.front().owner;
  test.start();
  client = std::make_unique<RawClient>(test.server->port(), 16'384);
  ASSERT_TRUE(client->send(kHandshake));
  client->read_until("\r\n\r\n");
  test.probe->run([&](StreamConnection& connection) {
    EXPECT_FALSE(connection.write(spans));
    spans.clear();
    filled = true;
  });
  ASSERT_TRUE(eventually([&] { return filled.load(); }));
  EXPECT_TRUE(oldest.expired());  // sent at once, so it is not kept
  EXPECT_FALSE(newest.expired());
  // Pings of a peer that does not read must not accumulate pongs: only the newest needs one.
  std::size_t sent = kHandshake.size();
  for (int i = 0; i < 50; ++i) {
    std::string ping = client_frame(0x89, std::to_string(i));
    sent += ping.size();
    ASSERT_TRUE(client->send(ping));
  }
  ASSERT_TRUE(eventually([&] { return test.counter("shepherd_received_bytes_total") >= sent; }));
  EXPECT_EQ(client->read(expected.size()), expected);
  ASSERT_TRUE(test.probe->wait_drained(1));
  test.probe->run([](StreamConnection& connection) { connection.finish(1000, ""); });
  EXPECT_EQ(client->read_to_end(), server_frame(Opcode::pong, "49") + close_frame(1000));
  EXPECT_TRUE(eventually([&] { return newest.expired(); }));
}

TEST_F(WebSocketServer, CutsAConsumerThatTakesNothing) {
  test.options.deadlines.write = milliseconds(100);
  test.start();
  client = std::make_unique<RawClient>(test.server->port(), 4'096);
  ASSERT_TRUE(client->send(kHandshake));
  client->read_until("\r\n\r\n");
  test.probe->run([](StreamConnection& connection) {
    const std::array<ByteSpan, 1> spans{own_bytes(std::string(32 << 20, 'x'))};
    connection.write(spans);
  });
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::write_deadline);
  EXPECT_EQ(test.counter("shepherd_write_deadline_closes_total"), 1u);
}

TEST_F(WebSocketServer, AConsumerThatReadsSlowlyIsNotCut) {
  test.options.deadlines.write = milliseconds(1'500);  // a busy machine may not schedule the reader for a second
  test.start();
  client = std::make_unique<RawClient>(test.server->port(), 16'384);
  ASSERT_TRUE(client->send(kHandshake));
  client->read_until("\r\n\r\n");
  constexpr std::size_t kBytes = 6 << 20;
  test.probe->run([](StreamConnection& connection) {
    const std::array<ByteSpan, 1> spans{own_bytes(std::string(kBytes, 'x'))};
    connection.write(spans);
  });
  std::size_t got = 0;
  while (got < kBytes) {
    std::size_t count = client->read(std::min<std::size_t>(256 << 10, kBytes - got)).size();
    ASSERT_GT(count, 0u);
    got += count;
    ::poll(nullptr, 0, 75);  // longer than the deadline in total, but never in a single step
  }
  ASSERT_TRUE(test.probe->wait_drained(1));
}

TEST_F(WebSocketServer, WritingToAGonePeerEndsInOnClose) {
  open();
  test.probe->run([&](StreamConnection& connection) {
    client->reset();  // on the io thread, so the loop has not seen it yet
    const std::array<ByteSpan, 1> spans{own_bytes("bytes")};
    EXPECT_FALSE(connection.write(spans));
    EXPECT_FALSE(connection.write(spans));
    connection.finish(1000, "");
  });
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::peer);
}

TEST_F(WebSocketServer, ShutdownLetsStreamsSayGoodbye) {
  open();
  std::thread stopper([&] { test.server->shutdown(10'000); });
  EXPECT_EQ(client->read_to_end(), close_frame(1001, "going down"));
  client->close();
  stopper.join();
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::finished);
}

TEST_F(WebSocketServer, ShutdownCutsStreamsThatStay) {
  test.probe->when_shutdown = [](StreamConnection&) {};
  open();
  test.server->shutdown(20);
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::shutdown);
  EXPECT_TRUE(client->at_end());
}

TEST(WebSocketRefusal, OldVersionsLearnTheRightOne) {
  StreamServer test;
  test.start();
  RawClient client(test.server->port());
  std::string handshake = kHandshake;
  handshake.replace(handshake.find("Version: 13"), 11, "Version: 12");
  ASSERT_TRUE(client.send(handshake));
  RawResponse response = client.read_response();
  EXPECT_EQ(response.status, 426);
  EXPECT_NE(response.head.find("Sec-WebSocket-Version: 13\r\n"), std::string::npos);
}

TEST(EventStream, SendsBytesAsTheyAreUntilItEnds) {
  StreamServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGetStream));
  std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(head.find("Cache-Control: no-store\r\n"), std::string::npos);
  EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Content-Length"), std::string::npos);
  EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
  test.probe->run([](StreamConnection& connection) {
    const std::array<ByteSpan, 1> spans{own_bytes("data: 1\n\n")};
    connection.write(spans);
    connection.finish(0, "");
  });
  EXPECT_EQ(client.read_to_end(), "data: 1\n\n");
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::finished);
}

TEST(EventStream, EndsWithItsPeer) {
  StreamServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGetStream));
  client.read_until("\r\n\r\n");
  ASSERT_TRUE(test.probe->wait_open());
  client.close();
  EXPECT_EQ(test.probe->wait_closed(), CloseCause::peer);
}

TEST(EventStream, AHeadRequestGetsOnlyTheHead) {
  StreamServer test;
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("HEAD /s HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\n"));
}

TEST(EventStream, AStreamMayStartFromAnyThread) {
  StreamServer test;
  std::mutex mutex;
  std::optional<Responder> waiting;
  test.handler.on_request = [&](Request&&, Responder responder) {
    std::lock_guard lock(mutex);
    waiting.emplace(std::move(responder));
  };
  test.start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send(kGetStream));
  ASSERT_TRUE(eventually([&] {
    std::lock_guard lock(mutex);
    return waiting.has_value();
  }));
  test.probe->when_open = [](StreamConnection& connection) {
    const std::array<ByteSpan, 1> spans{own_bytes("data: hi\n\n")};
    connection.write(spans);
  };
  waiting->stream({200, "text/event-stream", {}, "", false}, test.probe);
  EXPECT_TRUE(client.read_until("data: hi\n\n").ends_with("\r\n\r\ndata: hi\n\n"));
}

}  // namespace
}  // namespace shepherd::net
