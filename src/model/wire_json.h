// The JSON of the HTTP contract: strict in what it writes, tolerant in what it reads.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/condense.h"
#include "model/draft.h"
#include "model/task.h"
#include "redact/redact.h"

namespace shepherd {

// --- events in ---

enum class Framing { json, ndjson };  // json: one event, an array, or {"events":[…]}

// How to treat events on their way in.
struct Intake {
  const Redactor* redactor = nullptr;       // nullptr: no redaction
  const CondenseRules* condense = nullptr;  // nullptr: no condensing
  std::int64_t now_ms = 0;                  // timestamp for events without one
  bool keep_detail = true;                  // false: drops full content and raw records
  bool allow_reserved = false;              // true: accepts `command` and other server-only types
};

// Parses, validates, redacts and condenses a request body. One bad event rejects the whole body; the error names the
// event as `index` (from 0). Unknown members and types are kept. Errors: known members of a wrong type, bad UTF-8,
// nesting beyond kMaxJsonDepth, duplicate top-level members, numbers out of range; permission_denied / reserved_type;
// too_large / event_too_large above kMaxEventBytes. `sequence` becomes producer_sequence. `eventID` and `detail` are
// moved out of the body. A producer's `receivedAt`, `late` and `producer` are dropped, because the server sets them.
// Missing `timestamp` becomes now_ms, missing `summary` "", missing `version` 1; null counts as missing. The body is
// compact (no newline).
Result<DraftBatch> decode_events(std::string_view json, Framing framing, const Intake& intake);

// --- events out ---

// Appends the finished event: `{"sequence":N,"receivedAt":"…"[,"producer":"…"][,"late":true],` + body + `}`.
void append_event(std::string& out, std::uint64_t sequence, std::int64_t received_ms, std::string_view producer,
                  bool late, std::string_view body);

// The body part of a finished event, as passed to append_event; empty if the text is not a finished event.
std::string_view body_of(std::string_view event_json);

// The commonly needed fields of a finished event. Views point into the text, except decoded strings.
struct EventView {
  std::uint64_t sequence = 0;
  std::int64_t timestamp_ms = 0, received_ms = 0;
  EventType type = EventType::other;
  std::string type_name, summary, tool, session_id;
  bool late = false;
};
Result<EventView> parse_event(std::string_view event_json);

// All text of an event (summary, tool, string values of input, output, data), joined by spaces, at most max_bytes, for
// the search index. A pure function of the event's bytes.
std::string searchable_text(std::string_view event_json, std::size_t max_bytes);

// --- stream messages (WebSocket sends these objects; SSE sends their data) ---

void append_task_event_open(std::string& out, std::string_view task_id);  // `{"type":"task_event","taskID":"…","data":`
std::string gap_data(std::uint64_t from, std::uint64_t to);               // `{"from":1,"to":9}`
// `{"taskID","status","prURL","error","costUSD","lastSequence"}`
std::string complete_data(const std::string& task, const TaskState& state);

// --- tasks ---

// Reads a creation request, `{"prompt":…}` included. Unknown members are ignored; an error names the member with a
// wrong type.
Result<TaskSpec> decode_task_request(std::string_view json);
// The paths that decode_task_request() reads: "prompt", "task", "task.description", …
const std::set<std::string>& task_request_members();
// Applies a PATCH body with title and labels: an object merges, null removes a label.
Result<void> apply_task_patch(TaskSpec& spec, std::string_view json);
// TaskSpec <-> JSON for the store.
std::string encode_task_spec(const TaskSpec& spec);
TaskSpec decode_task_spec(std::string_view json);
std::string shown_title(const TaskSpec& spec);  // the title, or the description's first line
TaskInfo info_of(const TaskSpec& spec);         // the part of a row, with the shown title
// TaskInfo <-> JSON for the store.
std::string encode_task_info(const TaskInfo& info);
TaskInfo decode_task_info(std::string_view json);
// The public task object of GET /api/v1/tasks/{id}. task.context, which can be megabytes, is only in a runner's data.
void append_task(std::string& out, const Task& task);
// The same object in lists and updates: without description, command and allowedTools.
void append_row(std::string& out, const TaskRow& row);
// A task's `repo` as clients see it: an object always, {"url":""} when the task has none.
void append_repo(std::string& out, const TaskInfo& spec);

// Turns the body of POST …/{id}/status into a `status` draft. Reads started|progress|completed|failed,
// details.prURL|pr_url, details.error, details.reason (timed_out|cancelled).
Result<DraftBatch> decode_status_update(std::string_view json, const Intake& intake);

// Reads POST …/{id}/deltas, `{"block":…,"text":…}` or an array of them, as the compact JSON of each delta's data.
Result<std::vector<std::string>> decode_deltas(std::string_view json, const Intake& intake);

}  // namespace shepherd
