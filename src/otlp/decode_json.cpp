#include <charconv>
#include <string>
#include <utility>

#include "base/assert.h"
#include "json/read.h"
#include "json/write.h"
#include "otlp/decode.h"
#include "otlp/limits.h"

namespace shepherd {
namespace {

namespace dom = simdjson::dom;

// An object and an array without anything inside: simdjson's own empty values must not be walked.
struct Nothing {
  dom::parser parser;
  dom::object object;
  dom::array array;

  Nothing() {
    dom::element root;
    bool good = parser.parse(std::string_view(R"([[],{}])")).get(root) == simdjson::SUCCESS &&
                root.at(0).get(array) == simdjson::SUCCESS && root.at(1).get(object) == simdjson::SUCCESS;
    SHEPHERD_ASSERT(good, "a constant text is JSON");
  }
};

const Nothing& nothing() {
  static const Nothing empty;
  return empty;
}

// What is not there, or of another type, is empty: exporters differ in what they leave out.
dom::array array_of(dom::object object, std::string_view key) {
  dom::array array;
  return object[key].get(array) == simdjson::SUCCESS ? array : nothing().array;
}
dom::object object_of(dom::object object, std::string_view key) {
  dom::object found;
  return object[key].get(found) == simdjson::SUCCESS ? found : nothing().object;
}
std::string text_of(dom::object object, std::string_view key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

// 64-bit numbers are strings in protobuf's JSON; some exporters write numbers.
template <class Number>
Number whole_number(dom::element element) {
  Number value = 0;
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : Number{0};
  }
  if (element.get(value) != simdjson::SUCCESS) return 0;
  return value;
}
template <class Number>
Number whole_number(dom::object object, std::string_view key) {
  dom::element element;
  if (object[key].get(element) != simdjson::SUCCESS) return 0;
  return whole_number<Number>(element);
}

double real_number(dom::element element) {
  double value = 0;
  if (element.get(value) == simdjson::SUCCESS) return value;
  return static_cast<double>(whole_number<std::int64_t>(element));
}

std::string id_of(dom::object object, std::string_view key) {
  std::string id = text_of(object, key);
  if (id.size() > 2 * kMaxOtlpIdBytes) return {};
  for (char& c : id) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c + ('a' - 'A'));
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return {};
  }
  return id;
}

OtlpAttributes json_attributes(dom::array pairs, std::size_t depth);

OtlpValue json_value(dom::object any, std::size_t depth) {
  OtlpValue value;
  for (auto [key, element] : any) {
    if (key == "stringValue" || key == "bytesValue") {
      std::string_view text;
      if (element.get(text) != simdjson::SUCCESS) continue;
      value.kind = OtlpValue::Kind::text;
      value.text = text;
    } else if (key == "boolValue") {
      if (element.get(value.boolean) == simdjson::SUCCESS) value.kind = OtlpValue::Kind::boolean;
    } else if (key == "intValue") {
      value.kind = OtlpValue::Kind::integer;
      value.integer = whole_number<std::int64_t>(element);
    } else if (key == "doubleValue") {
      value.kind = OtlpValue::Kind::real;
      value.real = real_number(element);
    } else if (key == "arrayValue" && depth < kMaxOtlpNesting) {
      dom::object list;
      if (element.get(list) != simdjson::SUCCESS) continue;
      value.kind = OtlpValue::Kind::list;
      value.text = "[";
      for (dom::element each : array_of(list, "values")) {
        if (value.text.size() > 1) value.text.push_back(',');
        dom::object inner;
        bool good = each.get(inner) == simdjson::SUCCESS;
        append_otlp_value(value.text, json_value(good ? inner : nothing().object, depth + 1));
      }
      value.text.push_back(']');
    } else if (key == "kvlistValue" && depth < kMaxOtlpNesting) {
      dom::object list;
      if (element.get(list) != simdjson::SUCCESS) continue;
      value.kind = OtlpValue::Kind::list;
      value.text = json_attributes(array_of(list, "values"), depth + 1).json();
    }
  }
  return value;
}

OtlpAttributes json_attributes(dom::array pairs, std::size_t depth) {
  OtlpAttributes attributes;
  for (dom::element each : pairs) {
    dom::object pair;
    if (each.get(pair) != simdjson::SUCCESS) continue;
    attributes.add(text_of(pair, "key"), json_value(object_of(pair, "value"), depth));
  }
  return attributes;
}

OtlpLog json_log(dom::object record) {
  OtlpLog log;
  log.time = whole_number<std::uint64_t>(record, "timeUnixNano");
  if (log.time == 0) log.time = whole_number<std::uint64_t>(record, "observedTimeUnixNano");
  log.name = text_of(record, "eventName");
  log.severity = text_of(record, "severityText");
  log.body = json_value(object_of(record, "body"), 0);
  log.attributes = json_attributes(array_of(record, "attributes"), 0);
  log.trace_id = id_of(record, "traceId");
  log.span_id = id_of(record, "spanId");
  return log;
}

OtlpPoint json_point(dom::object metric, dom::object sum, dom::object number) {
  OtlpPoint point;
  point.metric = text_of(metric, "name");
  point.unit = text_of(metric, "unit");
  point.delta = whole_number<std::int64_t>(sum, "aggregationTemporality") == 1 ||
                text_of(sum, "aggregationTemporality") == "AGGREGATION_TEMPORALITY_DELTA";
  point.start = whole_number<std::uint64_t>(number, "startTimeUnixNano");
  point.time = whole_number<std::uint64_t>(number, "timeUnixNano");
  for (std::string_view key : {"asInt", "asDouble"}) {
    dom::element value;
    if (number[key].get(value) == simdjson::SUCCESS) {
      point.value = key == "asInt" ? static_cast<double>(whole_number<std::int64_t>(value)) : real_number(value);
    }
  }
  point.attributes = json_attributes(array_of(number, "attributes"), 0);
  return point;
}

OtlpSpan json_span(dom::object given) {
  OtlpSpan span;
  span.name = text_of(given, "name");
  span.start = whole_number<std::uint64_t>(given, "startTimeUnixNano");
  span.end = whole_number<std::uint64_t>(given, "endTimeUnixNano");
  span.trace_id = id_of(given, "traceId");
  span.span_id = id_of(given, "spanId");
  span.parent_span_id = id_of(given, "parentSpanId");
  dom::object status = object_of(given, "status");
  span.failed = whole_number<std::int64_t>(status, "code") == 2 || text_of(status, "code") == "STATUS_CODE_ERROR";
  span.message = text_of(status, "message");
  span.attributes = json_attributes(array_of(given, "attributes"), 0);
  return span;
}

// Calls read(object) for each object of the array; false: read refused one.
template <class Read>
bool for_objects(dom::array array, Read read) {
  for (dom::element each : array) {
    dom::object object;
    if (each.get(object) == simdjson::SUCCESS && !read(object)) return false;
  }
  return true;
}

template <class Value>
bool add_json_record(std::vector<Value>& list, std::size_t resource, Value value) {
  if (list.size() >= kMaxOtlpRecords) return false;
  value.resource = resource;
  list.push_back(std::move(value));
  return true;
}

// Calls read(record) for each record of one resource after the other.
template <class Read>
bool for_records(dom::array groups, std::string_view scopes, std::string_view records, OtlpRequest& request,
                 Read read) {
  return for_objects(groups, [&](dom::object group) {
    request.resources.push_back(json_attributes(array_of(object_of(group, "resource"), "attributes"), 0));
    return for_objects(array_of(group, scopes),
                       [&](dom::object scope) { return for_objects(array_of(scope, records), read); });
  });
}

}  // namespace

Result<OtlpRequest> decode_otlp_json(OtlpSignal signal, std::string_view body) {
  JsonParser parser(body.size());
  auto root = parser.parse(body);
  if (!root) return fail(root.error());
  dom::object message;
  if (root->get(message) != simdjson::SUCCESS) {
    return fail(ErrorCode::invalid_argument, "bad_otlp", "The body of an OTLP request is an object.");
  }
  std::string_view member = signal == OtlpSignal::logs      ? "resourceLogs"
                            : signal == OtlpSignal::metrics ? "resourceMetrics"
                                                            : "resourceSpans";
  dom::array groups;
  auto found = message[member].get(groups);
  if (found == simdjson::NO_SUCH_FIELD) return OtlpRequest{};
  if (found != simdjson::SUCCESS) {
    return fail(ErrorCode::invalid_argument, "bad_otlp", "`" + std::string(member) + "` is an array.");
  }
  OtlpRequest request;
  auto here = [&] { return request.resources.size() - 1; };
  bool fits = true;
  if (signal == OtlpSignal::logs) {
    fits = for_records(groups, "scopeLogs", "logRecords", request,
                       [&](dom::object record) { return add_json_record(request.logs, here(), json_log(record)); });
  } else if (signal == OtlpSignal::traces) {
    fits = for_records(groups, "scopeSpans", "spans", request,
                       [&](dom::object span) { return add_json_record(request.spans, here(), json_span(span)); });
  } else {
    fits = for_records(groups, "scopeMetrics", "metrics", request, [&](dom::object metric) {
      dom::object sum = object_of(metric, "sum");
      return for_objects(array_of(sum, "dataPoints"), [&](dom::object number) {
        return add_json_record(request.points, here(), json_point(metric, sum, number));
      });
    });
  }
  if (!fits) return fail(too_many_otlp_records());
  return request;
}

}  // namespace shepherd
