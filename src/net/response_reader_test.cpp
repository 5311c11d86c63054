#include "net/response_reader.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "net/limits.h"

namespace shepherd::net {
namespace {

using Event = ResponseReader::Event;
using Asked = ResponseReader::Request;

struct ResponseReading {
  int status = 0;
  std::string headers;
  std::string body;
  std::string refusal;
  std::string rest;  // input behind the response
  bool ended = false;
  bool keep_alive = false;
  bool operator==(const ResponseReading&) const = default;
};

template <class PieceSize>
ResponseReading read_response(std::string_view bytes, PieceSize piece_size, Asked asked = Asked::usual,
                              bool peer_ends = false) {
  ResponseReader reader(asked);
  ResponseReading reading;
  auto take = [&](Event event) {
    switch (event) {
      case Event::head:
        reading.status = reader.head().status;
        for (const auto& [name, value] : reader.head().headers) reading.headers += name + "=" + value + ";";
        return true;
      case Event::body:
        reading.body += reader.piece();
        return true;
      case Event::end:
        reading.ended = true;
        reading.keep_alive = reader.keep_alive();
        return false;
      case Event::refused:
        reading.refusal = reader.refusal();
        return false;
      case Event::need_more:
        return false;
    }
    return false;
  };
  while (!bytes.empty()) {
    std::string piece(bytes.substr(0, piece_size()));  // a separate allocation, so that sanitizers see dangling views
    bytes.remove_prefix(piece.size());
    std::string_view input = piece;
    while (take(reader.read(input))) {
    }
    if (reading.ended || !reading.refusal.empty()) {
      if (reading.ended) reading.rest = std::string(input) + std::string(bytes);
      return reading;
    }
    EXPECT_TRUE(input.empty());
  }
  if (peer_ends) take(reader.read_end());
  return reading;
}

ResponseReading read_whole(std::string_view bytes, Asked asked = Asked::usual, bool peer_ends = false) {
  return read_response(bytes, [] { return std::string_view::npos; }, asked, peer_ends);
}

std::string answer(const std::string& headers, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\n" + headers + "\r\n";
}

bool refuses(const std::string& bytes, Asked asked = Asked::usual) {
  ResponseReading reading = read_whole(bytes, asked);
  EXPECT_FALSE(reading.ended) << bytes;
  return !reading.refusal.empty();
}

TEST(ResponseReader, ReadsStatusHeadersAndBody) {
  auto reading = read_whole(answer("Content-Type: a/b\r\nX: 1\r\nx:  2 \r\nContent-Length: 5\r\n") + "helloNEXT");
  EXPECT_EQ(reading.status, 200);
  EXPECT_EQ(reading.headers, "content-type=a/b;x=1;x=2;content-length=5;");
  EXPECT_EQ(reading.body, "hello");
  EXPECT_TRUE(reading.ended);
  EXPECT_TRUE(reading.keep_alive);
  EXPECT_EQ(reading.rest, "NEXT");
}

TEST(ResponseReader, AnySplitGivesTheSame) {
  const std::string stream = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + answer("Transfer-Encoding: Chunked\r\n") +
                             "3;why=not\r\nabc\r\n0a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nrest";
  auto whole = read_whole(stream);
  EXPECT_EQ(whole.body, "abc0123456789");
  EXPECT_EQ(whole.rest, "rest");
  EXPECT_EQ(whole.headers, "transfer-encoding=Chunked;");
  EXPECT_EQ(read_response(stream, [] { return 1; }), whole);
  std::uint64_t seed = SystemRandom().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  for (int i = 0; i < 2'000; ++i) {
    std::string broken = stream;
    for (std::uint64_t changes = random.below(3); changes > 0; --changes) {
      broken[random.below(broken.size())] = static_cast<char>(random.below(256));
    }
    ASSERT_EQ(read_response(broken, [&] { return 1 + random.below(20); }), read_whole(broken)) << broken;
  }
}

TEST(ResponseReader, KnowsWhereABodyEnds) {
  EXPECT_TRUE(read_whole(answer("Content-Length: 0\r\n")).ended);
  EXPECT_TRUE(read_whole(answer("", "204 No Content")).ended);
  EXPECT_TRUE(read_whole(answer("Content-Length: 9\r\n", "304 Not Modified")).ended);
  EXPECT_TRUE(read_whole(answer("Content-Length: 9\r\n"), Asked::head).ended);
  EXPECT_TRUE(read_whole(answer("Transfer-Encoding: chunked\r\n"), Asked::head).ended);
  EXPECT_TRUE(read_whole(answer("", "200 Connected"), Asked::connect).ended);
  EXPECT_FALSE(read_whole(answer("", "407 Who"), Asked::connect).ended);
  EXPECT_TRUE(read_whole(answer("Upgrade: x\r\n", "101 Switching"), Asked::upgrade).ended);
  auto endless = read_whole(answer("") + "all of it", Asked::usual, true);
  EXPECT_TRUE(endless.ended);
  EXPECT_FALSE(endless.keep_alive);
  EXPECT_EQ(endless.body, "all of it");
}

TEST(ResponseReader, AnEndInTheMiddleIsNoEnd) {
  for (const std::string& bytes : {std::string("HTTP/1.1 20"), answer("Content-Length: 5\r\n") + "hell",
                                   answer("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n",
                                   answer("Transfer-Encoding: chunked\r\n") + "0\r\n"}) {
    auto reading = read_whole(bytes, Asked::usual, true);
    EXPECT_FALSE(reading.ended) << bytes;
    EXPECT_NE(reading.refusal, "") << bytes;
  }
}

TEST(ResponseReader, KnowsWhetherTheConnectionStays) {
  auto keeps = [](const std::string& bytes) { return read_whole(bytes).keep_alive; };
  EXPECT_TRUE(keeps(answer("Content-Length: 0\r\n")));
  EXPECT_FALSE(keeps(answer("Content-Length: 0\r\nConnection: x, Close\r\n")));
  EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_FALSE(keeps(answer("Content-Length: 5\r\n", "204 No Content")));  // are five bytes coming or not?
}

TEST(ResponseReader, RefusesWhatIsNotAResponse) {
  EXPECT_TRUE(refuses("\x15\x03\x01"));  // a TLS alert, at its first byte
  EXPECT_TRUE(refuses("SSH-2.0"));
  EXPECT_TRUE(refuses("HTTP/2.0 200 OK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.2 200 OK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.1 20 OK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.1 2000 OK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.1 099 OK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.1 200\tOK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.1  200 OK\r\n\r\n"));
  EXPECT_TRUE(refuses("HTTP/1.1 200 OK\nA: b\r\n\r\n"));
  EXPECT_TRUE(refuses(answer("", "101 Switching")));
  EXPECT_FALSE(refuses("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n"));
}

TEST(ResponseReader, RefusesHeadersThatOthersCouldReadDifferently) {
  EXPECT_TRUE(refuses(answer("A: b\r\n c\r\n")));
  EXPECT_TRUE(refuses(answer("A : b\r\n")));
  EXPECT_TRUE(refuses(answer(": b\r\n")));
  EXPECT_TRUE(refuses(answer("A\r\n")));
  EXPECT_TRUE(refuses(answer("A: b\rc\r\n")));
  EXPECT_TRUE(refuses(answer("A: b\nC: d\r\n")));
  EXPECT_TRUE(refuses(answer(std::string("A: b\0c\r\n", 8))));
}

TEST(ResponseReader, RefusesUnclearLengths) {
  EXPECT_TRUE(refuses(answer("Content-Length: 1\r\nContent-Length: 1\r\n")));
  EXPECT_TRUE(refuses(answer("Content-Length: 1, 1\r\n")));
  EXPECT_TRUE(refuses(answer("Content-Length: +1\r\n")));
  EXPECT_TRUE(refuses(answer("Content-Length:\r\n")));
  EXPECT_TRUE(refuses(answer("Content-Length: 99999999999999999999\r\n")));
  EXPECT_TRUE(refuses(answer("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")));
  EXPECT_TRUE(refuses(answer("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")));
  EXPECT_TRUE(refuses(answer("Transfer-Encoding: gzip, chunked\r\n")));
  EXPECT_TRUE(refuses("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
  EXPECT_TRUE(refuses(answer("Content-Length: 1\r\n", "103 Early")));
}

TEST(ResponseReader, RefusesMalformedChunks) {
  const std::string head = answer("Transfer-Encoding: chunked\r\n");
  for (const char* body : {"\r\n", "x\r\n", " 5\r\n", "5\n", "-1\r\n", "fffffffffffffffff\r\n", "2\r\nabX\r\n"}) {
    EXPECT_TRUE(refuses(head + body)) << body;
  }
  EXPECT_TRUE(refuses(head + "1;" + std::string(kMaxChunkLineBytes, 'x')));
}

TEST(ResponseReader, BoundsHeadsTrailersAndInterimResponses) {
  EXPECT_TRUE(refuses(answer("A: " + std::string(kMaxHeaderBytes, 'a') + "\r\n")));
  std::string many;
  for (std::size_t i = 0; i <= kMaxHeaders; ++i) many += "A: b\r\n";
  EXPECT_TRUE(refuses(answer(many)));
  std::string trailers = answer("Transfer-Encoding: chunked\r\n") + "0\r\n";
  while (trailers.size() < 2 * kMaxHeaderBytes) trailers += "Trailer: x\r\n";
  EXPECT_TRUE(refuses(trailers));
  std::string interim;
  for (int i = 0; i <= kMaxInterimResponses; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_TRUE(refuses(interim + answer("")));
}

}  // namespace
}  // namespace shepherd::net
