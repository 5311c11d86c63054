// What Claude Code exports over OTLP (CLAUDE_CODE_ENABLE_TELEMETRY=1): its records, metrics and spans become the steps
// and figures of a session.
//
// Tool calls have the ids of the stream and the hooks. What people typed and the model said is exported only when the
// person allows it; without that the steps say how long it was.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "driver/telemetry.h"
#include "otlp/request.h"

namespace shepherd {

class ClaudeTelemetry {
 public:
  // Looks through the whole request first: a call's input comes with its result alone.
  ClaudeTelemetry(const OtlpRequest& request, std::int64_t now_ms);

  static bool is_sender(std::string_view service) { return service == "claude-code"; }

  void log(const OtlpLog& log, SessionTelemetry& session);
  void point(const OtlpPoint& point, SessionTelemetry& session);
  void span(const OtlpSpan& span, SessionTelemetry& session);

 private:
  void prompt(const OtlpLog& log, SessionTelemetry& session);
  void response(const OtlpLog& log, SessionTelemetry& session);
  void decision(const OtlpLog& log, SessionTelemetry& session);
  void result(const OtlpLog& log, SessionTelemetry& session);
  void api_call(const OtlpLog& log, SessionTelemetry& session);
  void api_error(const OtlpLog& log, SessionTelemetry& session);
  void call(const OtlpAttributes& attributes, std::uint64_t time, SessionTelemetry& session);

  std::int64_t now_ms_;
  std::map<std::string, std::string, std::less<>> inputs_;  // of calls, by id
};

}  // namespace shepherd
