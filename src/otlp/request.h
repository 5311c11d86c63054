// What an OTLP request says, the same for JSON and protobuf: flat lists of records, each with its attributes and those
// of the program that sent it.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shepherd {

enum class OtlpSignal : std::uint8_t { logs, metrics, traces };
enum class OtlpEncoding : std::uint8_t { json, protobuf };

struct OtlpValue {
  enum class Kind : std::uint8_t { none, text, boolean, integer, real, list };  // list: an array or an object
  Kind kind = Kind::none;
  std::string text;  // of text; of a list its compact JSON
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;
};

class OtlpAttributes {
 public:
  using Pair = std::pair<std::string, OtlpValue>;

  // Of two with the same key the first one counts. Above kMaxOtlpAttributes they are left out.
  void add(std::string key, OtlpValue value);
  const std::vector<Pair>& pairs() const { return pairs_; }

  const OtlpValue* find(std::string_view key) const;
  std::string_view text(std::string_view key) const;  // empty: there is none
  // Many programs send numbers and truths as text.
  std::optional<double> number(std::string_view key) const;
  std::optional<std::uint64_t> count(std::string_view key) const;  // a whole number >= 0
  std::optional<bool> truth(std::string_view key) const;
  // The object that the attributes are, compact.
  std::string json() const;

 private:
  std::vector<Pair> pairs_;
};

// Times are nanoseconds since 1970; 0: not given. Ids are lower-case hexadecimal; empty: not given.
struct OtlpLog {
  std::size_t resource = 0;  // index in OtlpRequest::resources
  std::uint64_t time = 0;    // when it happened; else when it was seen
  std::string name;          // of the event: the attribute event.name, else its member; may be empty
  std::string severity;
  OtlpValue body;
  OtlpAttributes attributes;
  std::string trace_id, span_id;
};

// One number of a sum. Gauges and histograms are not read: no agent reports its totals by them alone.
struct OtlpPoint {
  std::size_t resource = 0;
  std::string metric, unit;
  bool delta = false;  // since `start`; otherwise the total since `start`
  std::uint64_t start = 0, time = 0;
  double value = 0;
  OtlpAttributes attributes;
};

struct OtlpSpan {
  std::size_t resource = 0;
  std::string name;
  std::uint64_t start = 0, end = 0;
  std::string trace_id, span_id, parent_span_id;
  bool failed = false;
  std::string message;  // why
  OtlpAttributes attributes;
};

struct OtlpRequest {
  std::vector<OtlpAttributes> resources;
  std::vector<OtlpLog> logs;
  std::vector<OtlpPoint> points;
  std::vector<OtlpSpan> spans;
};

// A value as JSON, compact.
void append_otlp_value(std::string& out, const OtlpValue& value);

}  // namespace shepherd
