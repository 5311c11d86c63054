// Feeds an OTLP request: the first byte chooses signal, encoding and gzip, the rest is the body. What is read becomes
// events that the server accepts, the same ones each time, and figures that count once.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "driven.h"
#include "driver/registry/exported_sessions.h"
#include "driver/telemetry_totals.h"
#include "otlp/answer.h"
#include "otlp/decode.h"
#include "otlp/limits.h"

namespace {

using namespace shepherd;

void check_refusal(const Error& error) {
  bool known = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::too_large;
  SHEPHERD_ASSERT(known, "what is no request is refused as such");
}

void check_totals(const SessionTelemetry& session) {
  TelemetryTotals totals;
  for (const TelemetryCall& call : session.calls) totals.add(call);
  for (const TelemetrySum& sum : session.sums) totals.add(sum);
  TelemetryTotals again = TelemetryTotals::decode(totals.encode());
  SHEPHERD_ASSERT(again.encode() == totals.encode(), "what is kept is read as it was");
  if (session.calls.empty()) return;
  SHEPHERD_ASSERT(!again.add(session.calls.back()), "a repeated call changes nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto signal = static_cast<OtlpSignal>(data[0] % 3);
  auto encoding = (data[0] & 4U) != 0 ? OtlpEncoding::protobuf : OtlpEncoding::json;
  std::string inflated;
  if ((data[0] & 8U) != 0) {
    auto whole = inflate_gzip(body);
    if (!whole) {
      check_refusal(whole.error());
      return 0;
    }
    SHEPHERD_ASSERT(whole->size() <= kMaxOtlpBytes, "inflating is bounded");
    inflated = *std::move(whole);
    body = inflated;
  }
  auto request = decode_otlp(signal, encoding, body);
  if (!request) {
    check_refusal(request.error());
    return 0;
  }
  ExportedSessions exported = sessions_of(*request, kFuzzStart);
  ExportedSessions repeated = sessions_of(*request, kFuzzStart);
  encode_otlp_answer(signal, encoding, exported.partial);
  SHEPHERD_ASSERT(exported.sessions.size() == repeated.sessions.size(), "a repeat is the same");
  for (std::size_t i = 0; i < exported.sessions.size(); ++i) {
    const SessionTelemetry& session = exported.sessions[i];
    SHEPHERD_ASSERT(!session.session_id.empty() && !session.agent.empty(), "a session has its id and its agent");
    check_event(telemetry_joined(session, kFuzzStart));
    check_event(telemetry_goes_on(session, kFuzzStart));
    for (std::size_t j = 0; j < session.steps.size(); ++j) {
      check_event(session.steps[j].event);
      SHEPHERD_ASSERT(session.steps[j].event.json == repeated.sessions[i].steps[j].event.json, "a repeat is the same");
    }
    check_totals(session);
  }
  return 0;
}
