// Both encodings, the bounds, and gzip.
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "opentelemetry/otlp.pb.h"
#include "otlp/answer.h"
#include "otlp/decode.h"
#include "otlp/limits.h"

namespace shepherd {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

OtlpRequest json_request(OtlpSignal signal, std::string_view body) {
  auto request = decode_otlp(signal, OtlpEncoding::json, body);
  EXPECT_TRUE(request) << request.error().message;
  return request ? *std::move(request) : OtlpRequest{};
}

TEST(Otlp, AMinimalLogInJson) {
  OtlpRequest request = json_request(OtlpSignal::logs, R"({"resourceLogs":[{"resource":{"attributes":[
      {"key":"service.name","value":{"stringValue":"x"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1544712660300000000",
      "severityText":"INFO","traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174",
      "body":{"stringValue":"hello"},"attributes":[
        {"key":"n","value":{"intValue":"7"}},{"key":"d","value":{"doubleValue":1.5}},{"key":"t","value":{"boolValue":true}},
        {"key":"text","value":{"stringValue":"12"}},{"key":"odd","value":{"newValue":1}},
        {"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":1},7]}}},
        {"key":"map","value":{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":false}}]}}}]}]}]}]})");
  ASSERT_EQ(request.logs.size(), 1u);
  const OtlpLog& log = request.logs[0];
  EXPECT_EQ(log.time, 1544712660300000000u);
  EXPECT_EQ(log.trace_id, "5b8efff798038103d269b633813fc60c");
  EXPECT_EQ(log.span_id, "eee19b7ec3c1b174");
  EXPECT_EQ(log.body.text, "hello");
  EXPECT_EQ(log.attributes.count("n"), 7u);
  EXPECT_EQ(log.attributes.count("text"), 12u);
  EXPECT_EQ(log.attributes.number("d"), 1.5);
  EXPECT_EQ(log.attributes.truth("t"), true);
  EXPECT_EQ(log.attributes.json(),
            R"({"n":7,"d":1.5,"t":true,"text":"12","odd":null,"list":["a",1,null],"map":{"k":false}})");
  EXPECT_EQ(request.resources[0].text("service.name"), "x");
}

TEST(Otlp, ProtobufSaysTheSameAsJson) {
  otlp::LogsRequest message;
  auto* group = message.add_resource_logs();
  auto* service = group->mutable_resource()->add_attributes();
  service->set_key("service.name");
  service->mutable_value()->set_string_value("x");
  auto* record = group->add_scope_logs()->add_log_records();
  record->set_observed_time_unix_nano(5);
  record->set_event_name("e");
  record->set_trace_id(std::string("\x5b\x8e\xff\xf7", 4));
  auto* pair = record->add_attributes();
  pair->set_key("list");
  auto* list = pair->mutable_value()->mutable_array_value();
  list->add_values()->set_int_value(-3);
  list->add_values()->mutable_kvlist_value()->add_values()->set_key("k");
  auto* bytes = record->add_attributes();
  bytes->set_key("bytes");
  bytes->mutable_value()->set_bytes_value("hi");
  auto request = decode_otlp(OtlpSignal::logs, OtlpEncoding::protobuf, message.SerializeAsString());
  ASSERT_TRUE(request);
  const OtlpLog& log = request->logs.at(0);
  EXPECT_EQ(log.time, 5u);
  EXPECT_EQ(log.name, "e");
  EXPECT_EQ(log.trace_id, "5b8efff7");
  EXPECT_EQ(log.attributes.json(), R"({"list":[-3,{"k":null}],"bytes":"aGk="})");
}

TEST(Otlp, DeltaAndCumulativeSums) {
  for (const auto& [temporality, delta] : {std::pair{"1", true}, std::pair{"2", false}}) {
    std::string body = R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","unit":"USD","sum":{)"
                       R"("aggregationTemporality":)" +
                       std::string(temporality) +
                       R"(,"dataPoints":[{"startTimeUnixNano":"1","timeUnixNano":2,"asDouble":0.5},{"asInt":"9"}]}},)"
                       R"({"name":"g","gauge":{"dataPoints":[{"asInt":"1"}]}}]}]}]})";
    OtlpRequest request = json_request(OtlpSignal::metrics, body);
    ASSERT_EQ(request.points.size(), 2u);
    EXPECT_EQ(request.points[0].delta, delta);
    EXPECT_EQ(request.points[0].start, 1u);
    EXPECT_EQ(request.points[0].time, 2u);
    EXPECT_EQ(request.points[0].value, 0.5);
    EXPECT_EQ(request.points[1].value, 9);
  }
}

TEST(Otlp, WhatIsNoRequestIsRefused) {
  for (std::string_view body : {"", "[]", "7", "{", R"({"resourceLogs":7})"}) {
    EXPECT_FALSE(decode_otlp(OtlpSignal::logs, OtlpEncoding::json, body)) << body;
  }
  auto bad = decode_otlp(OtlpSignal::traces, OtlpEncoding::protobuf, R"({"resourceSpans":[]})");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, "bad_otlp");
  // Members of other types than the protocol's are as if they were not there.
  EXPECT_TRUE(json_request(OtlpSignal::logs, R"({"resourceLogs":[7,{"scopeLogs":{"a":1}}],"other":1})").logs.empty());
  EXPECT_TRUE(json_request(OtlpSignal::logs, "{}").logs.empty());
}

TEST(Otlp, TooManyRecordsAreRefused) {
  otlp::TracesRequest message;
  auto* scope = message.add_resource_spans()->add_scope_spans();
  for (std::size_t i = 0; i < kMaxOtlpRecords; ++i) scope->add_spans();
  EXPECT_TRUE(decode_otlp(OtlpSignal::traces, OtlpEncoding::protobuf, message.SerializeAsString()));
  scope->add_spans();
  auto refused = decode_otlp(OtlpSignal::traces, OtlpEncoding::protobuf, message.SerializeAsString());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "too_many_records");
}

TEST(Otlp, ValuesNestedWithoutEndAreCut) {
  otlp::LogsRequest message;
  auto* pair = message.add_resource_logs()->add_scope_logs()->add_log_records()->add_attributes();
  pair->set_key("deep");
  auto* value = pair->mutable_value();
  for (std::size_t i = 0; i < kMaxOtlpNesting + 4; ++i) value = value->mutable_array_value()->add_values();
  auto request = decode_otlp(OtlpSignal::logs, OtlpEncoding::protobuf, message.SerializeAsString());
  ASSERT_TRUE(request);
  std::string json = request->logs.at(0).attributes.json();
  EXPECT_NE(json.find(std::string(kMaxOtlpNesting, '[') + "null"), std::string::npos) << json;
}

TEST(Otlp, GzipIsInflatedWithinBounds) {
  std::string text(100'000, 'a');
  auto back = inflate_gzip(gzipped(text));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, text);
  std::string cut = gzipped(text).substr(0, 50);
  EXPECT_EQ(inflate_gzip(cut).error().reason, "bad_gzip");
  EXPECT_EQ(inflate_gzip("not gzip").error().reason, "bad_gzip");
  EXPECT_EQ(inflate_gzip("").error().reason, "bad_gzip");
  EXPECT_EQ(inflate_gzip(gzipped(text) + "more").error().reason, "bad_gzip");
  std::string bomb = gzipped(std::string(4 * kMiB, '\0'));
  ASSERT_LT(bomb.size() * kMaxOtlpRatio, 4 * kMiB) << "the test needs a better bomb";
  EXPECT_EQ(inflate_gzip(bomb).error().reason, "inflates_too_much");
}

TEST(Otlp, AnswersInBothEncodings) {
  EXPECT_EQ(encode_otlp_answer(OtlpSignal::logs, OtlpEncoding::json, {}), "{}");
  EXPECT_EQ(encode_otlp_answer(OtlpSignal::logs, OtlpEncoding::protobuf, {}), "");
  OtlpPartial partial{3, "why"};
  EXPECT_EQ(encode_otlp_answer(OtlpSignal::traces, OtlpEncoding::json, partial),
            R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"why"}})");
  otlp::ExportAnswer answer;
  ASSERT_TRUE(answer.ParseFromString(encode_otlp_answer(OtlpSignal::traces, OtlpEncoding::protobuf, partial)));
  EXPECT_EQ(answer.partial_success().rejected(), 3);
  otlp::ErrorAnswer error;
  ASSERT_TRUE(error.ParseFromString(
      encode_otlp_error(OtlpEncoding::protobuf, {ErrorCode::unauthenticated, "missing_credentials", "Send one.", {}})));
  EXPECT_EQ(error.code(), 16);
  EXPECT_EQ(error.message(), "Send one.");
}

}  // namespace
}  // namespace shepherd
