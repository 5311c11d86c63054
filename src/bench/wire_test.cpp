#include <gtest/gtest.h>

#include <string>

#include "bench/http_text.h"
#include "bench/link.h"
#include "bench/publish_wire.h"
#include "bench/redis.h"

namespace shepherd::bench {
namespace {

TEST(HttpText, ReadsTheHeadOfAnAnswer) {
  std::string text = "HTTP/1.1 200 OK\r\ncontent-length: 12 \r\nTransfer-Encoding: chunked\r\n\r\nbody";
  Result<AnswerHead> head = read_answer_head(text);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body_bytes, 12U);
  EXPECT_TRUE(head->chunked);
  EXPECT_EQ(text.substr(head->bytes), "body");

  Result<AnswerHead> part = read_answer_head(text.substr(0, 30));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->bytes, 0U) << "not all there yet";
  EXPECT_FALSE(read_answer_head("SSH-2.0-x\r\n\r\n"));
}

TEST(HttpText, HeaderNamesMatchAsAWhole) {
  std::string_view head = "HTTP/1.1 200 OK\r\nX-Content-Length: 1\r\nContent-Length: 2\r\n";
  EXPECT_EQ(header_value(head, "content-length"), "2");
  EXPECT_EQ(header_value(head, "Content"), "");
}

TEST(HttpWire, AnswersOfOneRequestAtATime) {
  HttpWire wire({.port = 1}, {"/a", "/b"}, "X: y\r\n");
  std::string request;
  wire.append_request(request, 1, "hello");
  EXPECT_EQ(request, "POST /b HTTP/1.1\r\nHost: 127.0.0.1:1\r\nX: y\r\nContent-Length: 5\r\n\r\nhello");

  std::string answer = "HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\nyes";
  EXPECT_EQ(wire.read_answer(answer).value(), answer.size());
  EXPECT_EQ(wire.read_answer(answer.substr(0, answer.size() - 1)).value(), 0U);
  Result<std::size_t> refused = wire.read_answer("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nwait");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("503: wait"), std::string::npos);
}

TEST(XaddWire, SpeaksResp) {
  XaddWire wire({"key"});
  std::string request;
  wire.append_request(request, 0, "body");
  EXPECT_EQ(request, "*5\r\n$4\r\nXADD\r\n$3\r\nkey\r\n$1\r\n*\r\n$1\r\ne\r\n$4\r\nbody\r\n");
  EXPECT_EQ(wire.read_answer("$3\r\n1-0\r\n").value(), 9U);
  EXPECT_EQ(wire.read_answer("$3\r\n1-0\r").value(), 0U);
  EXPECT_EQ(wire.read_answer("$3").value(), 0U);
  EXPECT_FALSE(wire.read_answer("-ERR no\r\n"));
}

TEST(ParseUrl, TakesWhatTheServerPrints) {
  Result<Address> address = parse_url("https://127.0.0.1:8443/");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->authority(), "127.0.0.1:8443");
  EXPECT_TRUE(address->tls);
  EXPECT_FALSE(parse_url("http://127.0.0.1"));
  EXPECT_FALSE(parse_url("ftp://127.0.0.1:1"));
  EXPECT_FALSE(parse_url("http://127.0.0.1:99999"));
}

}  // namespace
}  // namespace shepherd::bench
