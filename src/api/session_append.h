// What goes into the tasks of sessions that people start by hand (session_task.h finds them). Hooks and telemetry
// report such sessions. Threads: value; append_to_session inside a transaction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "driver/actions.h"
#include "model/draft.h"
#include "model/task.h"
#include "model/wire_json.h"
#include "store/event_store.h"

namespace shepherd {

inline constexpr std::string_view kEndLabel = "sessionEndedAt";  // by the sender's clock

// Not on the writer's thread, except for one small event.
Result<DraftBatch> drafts_of(std::span<const DriverEvent> events, const Intake& intake);

struct SessionAppend {
  std::int64_t now_ms = 0;
  // The server infers that a session has ended; later reports are kept as late.
  bool by_server = false;
};

// Returns the number of new events; 0 too if another client has ended the task for good.
Result<std::uint64_t> append_to_session(WriteTxn& txn, const std::string& task, const DraftBatch& drafts,
                                        SessionAppend how);

bool waits(State state);
std::string title_of(std::string_view text);  // its first line, shortened

}  // namespace shepherd
