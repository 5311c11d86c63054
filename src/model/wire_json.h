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

// What happens to an event on its way in.
struct Intake {
  const Redactor* redactor = nullptr;       // nullptr: nothing is redacted
  const CondenseRules* condense = nullptr;  // nullptr: nothing is condensed
  std::int64_t now_ms = 0;                  // timestamp of events that have none
  bool keep_detail = true;                  // false: full content and raw records are dropped
  bool allow_reserved = false;              // true: `command` and other server-only types may enter
};

// Parses, validates, redacts and condenses a request body. All or nothing: the error names the bad event as `index`
// (from 0). Unknown members and types survive; known members of a wrong type, bad UTF-8, nesting beyond kMaxJsonDepth,
// duplicate top-level members and numbers out of range are errors. `sequence` becomes producer_sequence, `eventID` and
// `detail` leave the body; `receivedAt`, `late` and `producer` of a producer are dropped (they are the server's).
// Missing `timestamp` becomes now_ms, missing `summary` "", missing `version` 1; null counts as missing. The body is
// compact (no newline).
// A reserved type is permission_denied / reserved_type; an event over kMaxEventBytes is too_large / event_too_large.
Result<DraftBatch> decode_events(std::string_view json, Framing framing, const Intake& intake);

// --- events out ---

// Appends the finished event: `{"sequence":N,"receivedAt":"…"[,"producer":"…"][,"late":true],` + body + `}`.
void append_event(std::string& out, std::uint64_t sequence, std::int64_t received_ms, std::string_view producer,
                  bool late, std::string_view body);

// The body part of a finished event, i.e. what append_event was given. Empty when it is not a finished event.
std::string_view body_of(std::string_view event_json);

// The fields of a finished event that readers commonly need. Views point into the text, except decoded strings.
struct EventView {
  std::uint64_t sequence = 0;
  std::int64_t timestamp_ms = 0, received_ms = 0;
  EventType type = EventType::other;
  std::string type_name, summary, tool, session_id;
  bool late = false;
};
Result<EventView> parse_event(std::string_view event_json);

// All human text of an event (summary, tool, string values of input, output, data), one space between, at most
// max_bytes, for the search index. A pure function of the event's bytes.
std::string searchable_text(std::string_view event_json, std::size_t max_bytes);

// --- stream messages (WebSocket sends these objects; SSE sends their data) ---

void append_task_event_open(std::string& out, std::string_view task_id);  // `{"type":"task_event","taskID":"…","data":`
std::string gap_data(std::uint64_t from, std::uint64_t to);               // `{"from":1,"to":9}`
std::string complete_data(const Task& task);  // `{"taskID","status","prURL","error","costUSD","lastSequence"}`

// --- tasks ---

// A creation request, `{"prompt":…}` included. Unknown members are ignored; wrong types are errors naming the member.
Result<TaskSpec> decode_task_request(std::string_view json);
// What that reads, by path: "prompt", "task", "task.description", …
const std::set<std::string>& task_request_members();
// PATCH body: title, labels (null removes a label; an object merges).
Result<void> apply_task_patch(TaskSpec& spec, std::string_view json);
// TaskSpec <-> JSON for the store.
std::string encode_task_spec(const TaskSpec& spec);
TaskSpec decode_task_spec(std::string_view json);
// The public task object of GET /api/v1/tasks/{id}. task.context, which can be megabytes, is only in a runner's data.
std::string shown_title(const TaskSpec& spec);  // its title, or its description's first line
void append_task(std::string& out, const Task& task);
// A task's `repo` as clients see it: an object always, {"url":""} when the task has none.
void append_repo(std::string& out, const TaskSpec& spec);

// POST …/{id}/status -> the `status` draft's members. Knows started|progress|completed|failed, details.prURL|pr_url,
// details.error, details.reason (timed_out|cancelled).
Result<DraftBatch> decode_status_update(std::string_view json, const Intake& intake);

// POST …/{id}/deltas `{"block":…,"text":…}` or an array of them -> compact JSON of each delta's data.
Result<std::vector<std::string>> decode_deltas(std::string_view json, const Intake& intake);

}  // namespace shepherd
