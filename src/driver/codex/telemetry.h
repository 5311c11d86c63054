// What Codex exports over OTLP ([otel] in its configuration): its log records become the steps and tokens of a session.
// The model's answers are not among them.
// Threads: any (no state).
#pragma once

#include <cstdint>

#include "driver/telemetry.h"
#include "otlp/request.h"

namespace shepherd {

void read_codex_log(const OtlpLog& log, std::int64_t now_ms, SessionTelemetry& session);

}  // namespace shepherd
