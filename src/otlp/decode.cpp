#include "otlp/decode.h"

#include "otlp/limits.h"

namespace shepherd {

Result<OtlpRequest> decode_otlp(OtlpSignal signal, OtlpEncoding encoding, std::string_view body) {
  auto request = encoding == OtlpEncoding::json ? decode_otlp_json(signal, body) : decode_otlp_protobuf(signal, body);
  if (!request) return request;
  for (OtlpLog& log : request->logs) {
    // Programs in Rust give the place in their source as the name and put the event's own into the attribute.
    if (std::string_view own = log.attributes.text("event.name"); !own.empty()) log.name = own;
  }
  return request;
}

Error too_many_otlp_records() {
  return {ErrorCode::too_large,
          "too_many_records",
          "At most " + std::to_string(kMaxOtlpRecords) + " records go into one request. Export smaller batches.",
          {}};
}

}  // namespace shepherd
