#include "driver/http_envelope.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(HttpEnvelope, ARequestIsReadAsItWasWritten) {
  HttpEnvelope request{"7", "POST", "/session/a b", R"({"parts":[{"text":"x\ny"}]})"};
  std::string line = http_request_line(request);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  auto read = read_http_request(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, request.id);
  EXPECT_EQ(read->method, request.method);
  EXPECT_EQ(read->path, request.path);
  EXPECT_EQ(read->body, request.body);
  EXPECT_FALSE(read_http_request("nonsense"));
  EXPECT_FALSE(read_http_request(R"({"method":"GET","path":"http://elsewhere/"})")) << "only paths of the service";
}

TEST(HttpEnvelope, WhatIsNoJsonIsAText) {
  EXPECT_EQ(http_event_record("{\"a\":1}"), R"({"event":{"a":1}})");
  EXPECT_EQ(http_event_record("gone \"wrong"), R"({"event":"gone \"wrong"})");
  HttpEnvelope request{"1", "GET", "/x", ""};
  EXPECT_EQ(http_answer_record(request, 500, "<html>"),
            R"({"answer":{"id":"1","request":"GET /x","status":500,"body":"<html>"}})");
  EXPECT_EQ(http_failure_record(request, "refused"), R"({"answer":{"id":"1","request":"GET /x","error":"refused"}})");
}

}  // namespace
}  // namespace shepherd
