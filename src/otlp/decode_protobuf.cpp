#include <string>
#include <utility>

#include "base/base64.h"
#include "json/write.h"
#include "opentelemetry/otlp.pb.h"
#include "otlp/decode.h"
#include "otlp/limits.h"

namespace shepherd {
namespace {

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char c : bytes.substr(0, kMaxOtlpIdBytes)) {
    auto byte = static_cast<unsigned char>(c);
    out.push_back(kDigits[byte >> 4U]);
    out.push_back(kDigits[byte & 15U]);
  }
  return out;
}

void append_any(std::string& out, const otlp::AnyValue& any, std::size_t depth);

OtlpValue value_of(const otlp::AnyValue& any, std::size_t depth) {
  OtlpValue value;
  switch (any.value_case()) {
    case otlp::AnyValue::kStringValue:
      value.kind = OtlpValue::Kind::text;
      value.text = any.string_value();
      break;
    case otlp::AnyValue::kBoolValue:
      value.kind = OtlpValue::Kind::boolean;
      value.boolean = any.bool_value();
      break;
    case otlp::AnyValue::kIntValue:
      value.kind = OtlpValue::Kind::integer;
      value.integer = any.int_value();
      break;
    case otlp::AnyValue::kDoubleValue:
      value.kind = OtlpValue::Kind::real;
      value.real = any.double_value();
      break;
    case otlp::AnyValue::kBytesValue:
      value.kind = OtlpValue::Kind::text;
      value.text = encode_base64(any.bytes_value());
      while (value.text.size() % 4 != 0) value.text.push_back('=');  // as the protocol's JSON has it
      break;
    case otlp::AnyValue::kArrayValue:
    case otlp::AnyValue::kKvlistValue:
      if (depth >= kMaxOtlpNesting) break;
      value.kind = OtlpValue::Kind::list;
      append_any(value.text, any, depth);
      break;
    case otlp::AnyValue::VALUE_NOT_SET:
      break;
  }
  return value;
}

void append_any(std::string& out, const otlp::AnyValue& any, std::size_t depth) {
  if (any.has_array_value()) {
    out.push_back('[');
    for (const otlp::AnyValue& each : any.array_value().values()) {
      if (out.back() != '[') out.push_back(',');
      append_otlp_value(out, value_of(each, depth + 1));
    }
    out.push_back(']');
    return;
  }
  OtlpAttributes members;
  for (const otlp::KeyValue& each : any.kvlist_value().values()) {
    members.add(each.key(), value_of(each.value(), depth + 1));
  }
  out.append(members.json());
}

template <class Pairs>
OtlpAttributes attributes_of(const Pairs& pairs) {
  OtlpAttributes attributes;
  for (const otlp::KeyValue& pair : pairs) attributes.add(pair.key(), value_of(pair.value(), 0));
  return attributes;
}

OtlpLog log_of(const otlp::LogRecord& record) {
  OtlpLog log;
  log.time = record.time_unix_nano() != 0 ? record.time_unix_nano() : record.observed_time_unix_nano();
  log.name = record.event_name();
  log.severity = record.severity_text();
  log.body = value_of(record.body(), 0);
  log.attributes = attributes_of(record.attributes());
  log.trace_id = hex(record.trace_id());
  log.span_id = hex(record.span_id());
  return log;
}

OtlpPoint point_of(const otlp::Metric& metric, const otlp::NumberDataPoint& number) {
  OtlpPoint point;
  point.metric = metric.name();
  point.unit = metric.unit();
  point.delta = metric.sum().aggregation_temporality() == 1;
  point.start = number.start_time_unix_nano();
  point.time = number.time_unix_nano();
  point.value =
      number.value_case() == otlp::NumberDataPoint::kAsInt ? static_cast<double>(number.as_int()) : number.as_double();
  point.attributes = attributes_of(number.attributes());
  return point;
}

OtlpSpan span_of(const otlp::Span& given) {
  OtlpSpan span;
  span.name = given.name();
  span.start = given.start_time_unix_nano();
  span.end = given.end_time_unix_nano();
  span.trace_id = hex(given.trace_id());
  span.span_id = hex(given.span_id());
  span.parent_span_id = hex(given.parent_span_id());
  span.failed = given.status().code() == 2;
  span.message = given.status().message();
  span.attributes = attributes_of(given.attributes());
  return span;
}

// Adds what `make` makes of a record; false: there are too many.
template <class List, class Value>
bool add_record(List& list, std::size_t resource, Value value) {
  if (list.size() >= kMaxOtlpRecords) return false;
  value.resource = resource;
  list.push_back(std::move(value));
  return true;
}

bool read_logs(const otlp::LogsRequest& message, OtlpRequest& request) {
  for (const auto& group : message.resource_logs()) {
    request.resources.push_back(attributes_of(group.resource().attributes()));
    for (const auto& scope : group.scope_logs()) {
      for (const auto& record : scope.log_records()) {
        if (!add_record(request.logs, request.resources.size() - 1, log_of(record))) return false;
      }
    }
  }
  return true;
}

bool read_metrics(const otlp::MetricsRequest& message, OtlpRequest& request) {
  for (const auto& group : message.resource_metrics()) {
    request.resources.push_back(attributes_of(group.resource().attributes()));
    for (const auto& scope : group.scope_metrics()) {
      for (const auto& metric : scope.metrics()) {
        for (const auto& number : metric.sum().data_points()) {
          if (!add_record(request.points, request.resources.size() - 1, point_of(metric, number))) return false;
        }
      }
    }
  }
  return true;
}

bool read_traces(const otlp::TracesRequest& message, OtlpRequest& request) {
  for (const auto& group : message.resource_spans()) {
    request.resources.push_back(attributes_of(group.resource().attributes()));
    for (const auto& scope : group.scope_spans()) {
      for (const auto& span : scope.spans()) {
        if (!add_record(request.spans, request.resources.size() - 1, span_of(span))) return false;
      }
    }
  }
  return true;
}

template <class Message>
Result<OtlpRequest> read_message(std::string_view body, bool (*read)(const Message&, OtlpRequest&)) {
  Message message;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return fail(ErrorCode::invalid_argument, "bad_otlp",
                "The body is no protobuf message of OTLP. Does its Content-Type say the encoding that was used?");
  }
  OtlpRequest request;
  if (!read(message, request)) return fail(too_many_otlp_records());
  return request;
}

}  // namespace

Result<OtlpRequest> decode_otlp_protobuf(OtlpSignal signal, std::string_view body) {
  if (body.size() > kMaxOtlpBytes) {
    return fail(ErrorCode::too_large, "body_too_large", "The body is too large. Export smaller batches.");
  }
  switch (signal) {
    case OtlpSignal::logs:
      return read_message<otlp::LogsRequest>(body, read_logs);
    case OtlpSignal::metrics:
      return read_message<otlp::MetricsRequest>(body, read_metrics);
    case OtlpSignal::traces:
      return read_message<otlp::TracesRequest>(body, read_traces);
  }
  return OtlpRequest{};
}

}  // namespace shepherd
