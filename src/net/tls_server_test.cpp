#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "net/certificate_for_test.h"
#include "net/client.h"
#include "net/server_for_test.h"
#include "net/websocket_frame.h"

namespace shepherd::net {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{10'000};

class TlsServer : public ::testing::Test {
 protected:
  void start() {
    test.options.tls = certificate.files();
    test.start();
  }
  Url url(const std::string& target = "/") { return {true, "localhost", std::to_string(test.server->port()), target}; }
  ClientTls trusted() { return {certificate.files().certificate, false}; }

  CertificateForTest certificate{"localhost"};
  TestServer test;
};

TEST_F(TlsServer, AnswersOverTls) {
  test.handler.on_request = [](Request&& request, Responder responder) {
    responder.send({200, "text/plain", {}, (request.secure ? "secure " : "plain ") + request.body, false});
  };
  start();
  EXPECT_TRUE(test.server->url().starts_with("https://"));
  HttpClient client(url(), trusted());
  for (int i = 0; i < 3; ++i) {
    auto response = client.request("POST", "/", {}, "body" + std::to_string(i), kTimeout);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "secure body" + std::to_string(i));
  }
  EXPECT_EQ(test.counter("shepherd_connections_accepted_total"), 1u);
}

TEST_F(TlsServer, CarriesLargeBodiesBothWays) {
  test.handler.on_admit = [](const Request&) { return Admission{16 << 20, {}}; };
  test.handler.on_request = [](Request&& request, Responder responder) {
    responder.send({200, "text/plain", {}, std::move(request.body), false});
  };
  start();
  std::string body(6 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i % 23);
  HttpClient client(url(), trusted());
  auto response = client.request("POST", "/", {}, body, kTimeout);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, body);
}

TEST_F(TlsServer, AnUnknownCertificateIsRefusedByTheClient) {
  start();
  CertificateForTest other("localhost");
  auto response = HttpClient(url(), {other.files().certificate, false}).request("GET", "/", {}, "", kTimeout);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, "bad_certificate");
  EXPECT_TRUE(HttpClient(url(), {"", true}).request("GET", "/", {}, "", kTimeout));
}

TEST_F(TlsServer, ACertificateForAnotherHostIsRefused) {
  CertificateForTest wrong("somewhere.example");
  test.options.tls = wrong.files();
  test.start();
  auto response = HttpClient(url(), {wrong.files().certificate, false}).request("GET", "/", {}, "", kTimeout);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason, "bad_certificate");
}

TEST_F(TlsServer, PlainHttpOnATlsPortIsClosed) {
  start();
  RawClient client(test.server->port());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  client.read_to_end();
  EXPECT_TRUE(client.at_end());
}

TEST_F(TlsServer, AHandshakeThatDoesNotComeIsCut) {
  test.options.deadlines.tls_handshake = milliseconds(50);
  start();
  RawClient client(test.server->port());
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(test.counter("shepherd_deadline_closes_total"), 1u);
}

TEST_F(TlsServer, CarriesWebSocketsAndSlowConsumers) {
  auto probe = std::make_shared<StreamProbe>();
  test.handler.on_request = [&](Request&&, Responder responder) { responder.upgrade("", {}, probe); };
  start();
  auto client = WebSocketClient::connect(url("/w"), {}, kTimeout, trusted());
  ASSERT_TRUE(client) << client.error().message;
  // Fills the buffers between both sides; the client reads only after that.
  constexpr int kMostMessages = 50'000;
  const auto message = [](int i) { return std::to_string(i) + std::string(4'000, 'x'); };
  std::atomic<int> written{0};
  probe->run([&](StreamConnection& connection) {
    int count = 0;
    for (bool taken = true; taken && count < kMostMessages; ++count) {
      std::string frame;
      append_frame(frame, Opcode::text, message(count));
      const std::array<ByteSpan, 1> spans{own_bytes(std::move(frame))};
      taken = connection.write(spans);
    }
    written = count;
  });
  ASSERT_TRUE(eventually([&] { return written > 0; }));
  ASSERT_LT(written, kMostMessages) << "a consumer that does not read was never slow";
  for (int i = 0; i < written; ++i) {
    auto read = client->read(kTimeout);
    ASSERT_TRUE(read && *read) << i;
    ASSERT_EQ(**read, message(i));
  }
  ASSERT_TRUE(probe->wait_drained(1));
  ASSERT_TRUE(client->send("thank you"));
  ASSERT_TRUE(probe->wait_messages(1));
  probe->run([](StreamConnection& connection) { connection.finish(1000, "bye"); });
  EXPECT_FALSE(client->read(kTimeout));
  ASSERT_TRUE(client->closed());
  EXPECT_EQ(client->closed()->reason, "bye");
}

TEST_F(TlsServer, SaysWhatIsWrongWithACertificate) {
  auto listen = [&](const TlsFiles& files) {
    test.options.tls = files;
    auto server = HttpServer::listen(test.io, test.options, test.handler, test.clock, test.metrics);
    return server ? Error{} : server.error();
  };
  CertificateForTest other("localhost");
  Error missing = listen({"/nowhere/certificate.pem", "/nowhere/key.pem"});
  EXPECT_EQ(missing.reason, "bad_certificate");
  EXPECT_NE(missing.message.find("/nowhere/certificate.pem"), std::string::npos);
  EXPECT_EQ(listen({certificate.files().certificate, other.files().key}).reason, "bad_certificate");
  EXPECT_EQ(listen({certificate.files().key, certificate.files().key}).reason, "bad_certificate");
}

}  // namespace
}  // namespace shepherd::net
