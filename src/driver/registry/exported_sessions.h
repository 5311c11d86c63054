// An OTLP request by session: the reader of each agent that has one, and for other programs a `log` event per record.
// Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/telemetry.h"
#include "otlp/answer.h"
#include "otlp/request.h"

namespace shepherd {

struct ExportedSessions {
  std::vector<SessionTelemetry> sessions;
  OtlpPartial partial;  // records of no session, and what is not read of programs without a reader
};

// A record's session is its attribute session.id, conversation.id or gen_ai.conversation.id, or that of its resource.
// The resource attribute shepherd.task names the task.
ExportedSessions sessions_of(const OtlpRequest& request, std::int64_t now_ms);

}  // namespace shepherd
