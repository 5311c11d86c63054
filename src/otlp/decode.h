// Reading an OTLP request (OTLP/HTTP 1) in JSON or protobuf, and inflating it.
//
// Fields that are not known are ignored. A value of a kind that is not known becomes null.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "otlp/request.h"

namespace shepherd {

// invalid_argument/bad_otlp (or a reason of JSON) when the body is none; too_large/too_many_records.
Result<OtlpRequest> decode_otlp(OtlpSignal signal, OtlpEncoding encoding, std::string_view body);

// A gzip body as it was before. invalid_argument/bad_gzip; too_large/inflates_too_much above kMaxOtlpBytes, and above
// kMaxOtlpRatio when it is not small.
Result<std::string> inflate_gzip(std::string_view body);

// --- for the two readers ---
Result<OtlpRequest> decode_otlp_json(OtlpSignal signal, std::string_view body);
Result<OtlpRequest> decode_otlp_protobuf(OtlpSignal signal, std::string_view body);
Error too_many_otlp_records();

}  // namespace shepherd
