// The events that one record of an agent becomes, for agents that print JSON lines: they share its time and session,
// and the record itself goes with the first of them. Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "driver/event_json.h"
#include "driver/open_calls.h"
#include "json/slices.h"

namespace shepherd {

// Words of the model.
struct SaidWords {
  std::string_view kind;  // text or reasoning
  std::string_view text;
  std::string_view event_id = {};
  std::string_view parent_call_id = {};
  std::optional<std::int64_t> duration_ms = {};
};

struct ToolResult {
  std::string_view call_id;
  Outcome outcome = Outcome::success;
  std::string_view text;
  std::string_view shown = {};                   // the text as a person reads it; empty: as it is
  std::string_view data = {};                    // what is known besides; an object, or nothing
  std::optional<std::int64_t> duration_ms = {};  // nullopt: the time since the call
};

class RecordEvents {
 public:
  // False: the line is no JSON object, and has become a log event.
  bool read(std::string_view line, std::int64_t now_ms, Descend descend, Actions& out);
  // For events of no record.
  void without_record(std::int64_t now_ms);

  const JsonSlices& json() const { return record_; }
  std::int64_t now_ms() const { return now_ms_; }  // ours
  std::int64_t at_ms() const { return at_ms_; }    // by the agent's clock, when it says
  void set_time(std::int64_t wall_ms);             // a time that cannot be is none
  const std::string& session() const { return session_; }
  void set_session(std::string_view id);  // an id that is too long is none

  EventParts step(EventType type) const;
  void emit(Actions& out, const EventParts& parts, Detail detail = {});

  // --- what most agents say ---

  // `more_members`: JSON members of `data`, or nothing.
  void status(Actions& out, std::string_view summary, std::string_view state, std::string_view more_members = {});
  void said(Actions& out, const SaidWords& words);
  // Remembers the call in `calls`. `input`: compact JSON; what is no object becomes an empty one.
  void tool_call(Actions& out, OpenCalls& calls, std::string_view id, std::string_view tool, std::string_view input,
                 std::string_view summary, std::string_view parent = {});
  // Forgets the call.
  void tool_result(Actions& out, OpenCalls& calls, const ToolResult& result);
  // more_members as for status().
  void error(Actions& out, std::string_view code, std::string_view message, bool fatal,
             std::string_view more_members = {});
  // A record that the driver does not know.
  void unknown(Actions& out, std::string_view name);
  // A record that is only worth a line of the log.
  void note(Actions& out, std::string_view text);

 private:
  void not_protocol(std::string_view line, Actions& out);

  JsonSlices record_;
  bool has_record_ = false;  // that is not beside an event yet
  std::int64_t now_ms_ = 0, at_ms_ = 0;
  std::string session_;
};

}  // namespace shepherd
