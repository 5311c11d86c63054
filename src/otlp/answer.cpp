#include "otlp/answer.h"

#include <array>

#include "json/write.h"
#include "opentelemetry/otlp.pb.h"

namespace shepherd {
namespace {

// gRPC's number of each code, in the order of ErrorCode.
constexpr std::array<int, 12> kRpcCodes{3, 16, 7, 5, 10, 9, 8, 3, 8, 14, 8, 13};

int rpc_code(ErrorCode code) {
  return kRpcCodes[static_cast<std::size_t>(code)];
}

}  // namespace

std::string_view otlp_media_type(OtlpEncoding encoding) {
  return encoding == OtlpEncoding::json ? "application/json" : "application/x-protobuf";
}

std::string encode_otlp_answer(OtlpSignal signal, OtlpEncoding encoding, const OtlpPartial& partial) {
  bool all = partial.rejected == 0 && partial.why.empty();
  if (encoding == OtlpEncoding::protobuf) {
    otlp::ExportAnswer answer;
    if (!all) {
      answer.mutable_partial_success()->set_rejected(static_cast<std::int64_t>(partial.rejected));
      answer.mutable_partial_success()->set_error_message(partial.why);
    }
    return answer.SerializeAsString();
  }
  return object_text([&](JsonObject& object) {
    if (all) return;
    object.object("partialSuccess", [&](JsonObject& inner) {
      inner.text(signal == OtlpSignal::logs      ? "rejectedLogRecords"
                 : signal == OtlpSignal::metrics ? "rejectedDataPoints"
                                                 : "rejectedSpans",
                 std::to_string(partial.rejected));
      inner.text("errorMessage", partial.why);
    });
  });
}

std::string encode_otlp_error(OtlpEncoding encoding, const Error& error) {
  if (encoding == OtlpEncoding::protobuf) {
    otlp::ErrorAnswer answer;
    answer.set_code(rpc_code(error.code));
    answer.set_message(error.message);
    return answer.SerializeAsString();
  }
  return object_text([&](JsonObject& object) {
    object.number("code", std::int64_t{rpc_code(error.code)});
    object.text("message", error.message);
    object.text("reason", error.reason);
  });
}

}  // namespace shepherd
