#include "net/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "net/limits.h"
#include "net/server_for_test.h"

namespace shepherd::net {
namespace {

constexpr std::string_view kPost =
    "POST /v1/things?x=1 HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

// The result of reading a byte stream: "METHOD target body" of each request, then the status of a refusal.
struct Reading {
  std::vector<std::string> requests;
  int refused = 0;
  bool operator==(const Reading&) const = default;
};

Reading read_in_pieces(std::string_view bytes, const std::function<std::size_t()>& piece_size) {
  ScriptedHandler handler;
  handler.on_admit = [](const Request&) { return Admission{1'000, {}}; };
  RequestReader reader(handler);
  Reading reading;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, piece_size());
    bytes.remove_prefix(piece.size());
    std::string copy(piece);  // a separate allocation, so that sanitizers detect a dangling view
    std::string_view input = copy;
    while (!input.empty()) {
      auto outcome = reader.read(input);
      if (outcome == RequestReader::Outcome::refused) {
        reading.refused = reader.refusal().status;
        return reading;
      }
      if (outcome == RequestReader::Outcome::need_more) continue;
      Request& request = reader.request();
      reading.requests.push_back(request.method + " " + request.target + " " + request.body);
      reader.start_next();
    }
  }
  return reading;
}

Reading read_all(std::string_view bytes) {
  return read_in_pieces(bytes, [] { return std::string_view::npos; });
}

int refusal_of(const std::string& bytes) {
  Reading reading = read_all(bytes);
  EXPECT_TRUE(reading.requests.empty()) << bytes;
  return reading.refused;
}

std::string with_headers(const std::string& headers) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n";
}

TEST(RequestReader, ReadsMethodTargetHeadersAndBody) {
  ScriptedHandler handler;
  RequestReader reader(handler);
  std::string_view input = kPost;
  ASSERT_EQ(reader.read(input), RequestReader::Outcome::complete);
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(reader.request().method, "POST");
  EXPECT_EQ(reader.request().path(), "/v1/things");
  EXPECT_EQ(reader.request().query(), "x=1");
  EXPECT_EQ(reader.request().header("content-type"), "text/plain");
  EXPECT_EQ(reader.request().body, "hello");
  EXPECT_TRUE(reader.keep_alive());
}

TEST(RequestReader, AnySplitGivesTheSameRequests) {
  std::string stream;
  stream += kPost;
  stream += "GET /a HTTP/1.1\r\nhost:b\r\n\r\n";
  stream += with_headers("Transfer-Encoding: Chunked\r\n") +
            "3;why=not\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  stream += "DELETE /b HTTP/1.0\r\n\r\n";
  stream += kPost;
  Reading whole = read_all(stream);
  ASSERT_EQ(whole.requests.size(), 5u);
  ASSERT_EQ(whole.requests[2], "POST / abc0123456789");
  EXPECT_EQ(read_in_pieces(stream, [] { return 1; }), whole);
  std::uint64_t seed = SystemRandom().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(read_in_pieces(stream, [&] { return 1 + random.below(60); }), whole);
  }
}

TEST(RequestReader, ARefusalDoesNotDependOnTheSplit) {
  std::uint64_t seed = SystemRandom().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  const std::string valid =
      with_headers("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n0\r\n\r\n" + std::string(kPost);
  for (int i = 0; i < 2'000; ++i) {
    std::string broken = valid;
    for (std::uint64_t change = 1 + random.below(3); change > 0; --change) {
      broken[random.below(broken.size())] = static_cast<char>(random.below(256));
    }
    ASSERT_EQ(read_in_pieces(broken, [&] { return 1 + random.below(20); }), read_all(broken)) << broken;
  }
}

TEST(RequestReader, RefusesWhatIsNotARequest) {
  EXPECT_EQ(refusal_of("\x16\x03\x01\x02"), 400);  // TLS on a plaintext port, at its first byte
  EXPECT_EQ(refusal_of("\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/2.0\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1 \r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("G(T / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\nHost: a\r\n\r\n"), 400);
}

TEST(RequestReader, TakesOnlyTheOriginForm) {
  EXPECT_EQ(refusal_of("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesHeadersThatOthersCouldReadDifferently) {
  EXPECT_EQ(refusal_of(with_headers("A: b\r\n c\r\n")), 400);  // folded
  EXPECT_EQ(refusal_of(with_headers("A : b\r\n")), 400);       // blank before the colon
  EXPECT_EQ(refusal_of(with_headers(": b\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("A\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("A: b\rc\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("A: b\nC: d\r\n")), 400);  // bare LF
  EXPECT_EQ(refusal_of(with_headers(std::string("A: b\0c\r\n", 8))), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\n\r\n"), 400);  // no Host
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesUnclearLengths) {
  EXPECT_EQ(refusal_of(with_headers("Content-Length: 1\r\nContent-Length: 1\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Content-Length: 1, 1\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Content-Length: +1\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Content-Length: 0x1\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Content-Length:\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Content-Length: 99999999999999999999\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(refusal_of(with_headers("Transfer-Encoding: gzip\r\n")), 501);
  EXPECT_EQ(refusal_of(with_headers("Transfer-Encoding: chunked, identity\r\n")), 501);
  EXPECT_EQ(refusal_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(RequestReader, RefusesMalformedChunks) {
  const std::string head = with_headers("Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(refusal_of(head + "\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "x\r\n"), 400);
  EXPECT_EQ(refusal_of(head + " 5\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "5\n"), 400);
  EXPECT_EQ(refusal_of(head + "-1\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "fffffffffffffffff\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "2\r\nabX\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "2\r\nabcd\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "1;" + std::string(kMaxChunkLineBytes, 'x')), 400);
}

TEST(RequestReader, BoundsTheBodyAsAdmitted) {
  EXPECT_EQ(refusal_of(with_headers("Content-Length: 1001\r\n")), 413);
  EXPECT_EQ(refusal_of(with_headers("Transfer-Encoding: chunked\r\n") + "3e9\r\n"), 413);
  EXPECT_EQ(
      refusal_of(with_headers("Transfer-Encoding: chunked\r\n") + "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\n"),
      413);
  EXPECT_EQ(read_all(with_headers("Content-Length: 1000\r\n") + std::string(1000, 'x')).requests.size(), 1u);
}

TEST(RequestReader, BoundsTheHead) {
  EXPECT_EQ(refusal_of("GET /" + std::string(kMaxHeaderBytes, 'a')), 414);
  EXPECT_EQ(refusal_of(with_headers("A: " + std::string(kMaxHeaderBytes, 'a'))), 431);
  std::string many;
  for (std::size_t i = 0; i < kMaxHeaders; ++i) many += "A: b\r\n";
  EXPECT_EQ(refusal_of(with_headers(many)), 431);
  // A slow drip of small headers is bounded as well.
  std::string drip = "GET / HTTP/1.1\r\nHost: a\r\n";
  while (drip.size() <= kMaxHeaderBytes) drip += "A: b\r\n";
  EXPECT_EQ(read_in_pieces(drip, [] { return 7; }).refused, 431);
}

TEST(RequestReader, BoundsTrailers) {
  std::string bytes = with_headers("Transfer-Encoding: chunked\r\n") + "0\r\n";
  while (bytes.size() < 2 * kMaxHeaderBytes) bytes += "Trailer: x\r\n";
  EXPECT_EQ(refusal_of(bytes), 400);
}

TEST(RequestReader, KnowsWhetherToKeepTheConnection) {
  auto keeps = [](std::string_view bytes) {
    ScriptedHandler handler;
    RequestReader reader(handler);
    EXPECT_EQ(reader.read(bytes), RequestReader::Outcome::complete);
    return reader.keep_alive();
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(RequestReader, AsksForContinueOnlyWhileTheBodyIsMissing) {
  ScriptedHandler handler;
  RequestReader reader(handler);
  std::string_view head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
  ASSERT_EQ(reader.read(head), RequestReader::Outcome::need_more);
  EXPECT_TRUE(reader.take_continue());
  EXPECT_FALSE(reader.take_continue());
  std::string_view body = "ab";
  ASSERT_EQ(reader.read(body), RequestReader::Outcome::complete);
  EXPECT_EQ(refusal_of(with_headers("Expect: something\r\n")), 417);
}

TEST(RequestReader, RecognisesWebSocketHandshakes) {
  const std::string good =
      "GET /w HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  auto changed = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    bytes.replace(bytes.find(from), from.size(), to);
    return bytes;
  };
  ScriptedHandler handler;
  RequestReader reader(handler);
  std::string_view input = good;
  ASSERT_EQ(reader.read(input), RequestReader::Outcome::complete);
  EXPECT_TRUE(reader.request().is_websocket);
  EXPECT_EQ(refusal_of(changed("Version: 13", "Version: 8")), 426);
  EXPECT_EQ(refusal_of(changed("==", "=")), 400);
  EXPECT_EQ(refusal_of(changed("GET", "PUT")), 400);
  EXPECT_EQ(refusal_of(changed("HTTP/1.1", "HTTP/1.0")), 400);
  std::string_view plain = "GET /w HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n";
  RequestReader other(handler);
  ASSERT_EQ(other.read(plain), RequestReader::Outcome::complete);
  EXPECT_FALSE(other.request().is_websocket);
}

TEST(RequestReader, TheHandlersRefusalComesBeforeTheBody) {
  ScriptedHandler handler;
  handler.on_admit = [](const Request&) { return Admission{0, Response{401, "text/plain", {}, "who are you", false}}; };
  RequestReader reader(handler);
  std::string_view input = kPost;
  ASSERT_EQ(reader.read(input), RequestReader::Outcome::refused);
  ASSERT_TRUE(reader.refusal().response);
  EXPECT_EQ(reader.refusal().response->status, 401);
}

}  // namespace
}  // namespace shepherd::net
