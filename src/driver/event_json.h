// Writing events: the members in the order in which the server keeps them, and bounded. A tool's input and output go
// whole: the server cuts them as it is configured.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "driver/text_joiner.h"
#include "model/event_type.h"

namespace shepherd {

// What an event has only the beginning of: how many characters the whole has (of `input` and `data`: its JSON text);
// 0: nothing was cut. The detail has the whole under the same name.
struct Cut {
  std::uint64_t summary = 0, input = 0, output = 0, data = 0;
  std::uint64_t text = 0;  // of `data`: its `text`, `content`, `line` or `message`
};

// JSON members are compact objects and empty when the event has none.
struct EventParts {
  EventType type = EventType::log;
  std::int64_t timestamp_ms = 0;
  std::string_view summary;  // any text; becomes one line of at most kMaxSummaryCharacters
  std::string_view tool;
  std::string_view input, output, data;
  std::string_view call_id, parent_call_id, session_id;
  std::string_view trace_id, span_id;
  std::optional<std::int64_t> duration_ms;
  Cut cut;                    // what the caller cut
  std::string_view event_id;  // left out when it is longer than kMaxEventIdBytes
};

// The event. What is too large to be posted with it is cut, marked as cut, and goes whole into the detail.
DriverEvent make_event(const EventParts& parts, std::string detail = {});
void add_event(Actions& out, const EventParts& parts, std::string detail = {});

// Adds a `log` event of plain lines when there are any. `stream` says where they came from.
void add_log(Actions& out, const std::optional<JoinedText>& lines, std::string_view stream,
             std::string_view session_id);

// The beginning of the text that an event may hold; the whole of it belongs into the detail (mark_cut).
std::string_view event_text(std::string_view text);

// The text as one line: runs of blanks and control characters become one space, terminal colours nothing; at most
// `characters`, cut with "…".
std::string one_line(std::string_view text, std::size_t characters);

// The detail of an event: what its parts have in full, then the agent's record.
class Detail {
 public:
  Detail& json(std::string_view name, std::string_view value);  // compact JSON
  Detail& text(std::string_view name, std::string_view value);
  // The record itself: embedded when it is valid JSON, otherwise as text.
  Detail& raw_json(std::string_view record) { return json("raw", record); }
  Detail& raw_text(std::string_view record) { return text("raw", record); }
  bool empty() const { return out_.empty(); }
  std::string take();  // within kMaxDetailBytes

 private:
  std::string& begin(std::string_view name, std::size_t size);

  std::string out_;
};

// Marks the event when its text is only the beginning of `all`, which then goes into the detail.
void mark_cut(EventParts& parts, Detail& detail, std::string_view kept, std::string_view all);

// How a tool call went: a denied one was never made.
enum class Outcome : std::uint8_t { success, failed, denied };

// {"success":…,"summary":…}, and `denied` when it was.
std::string output_json(Outcome outcome, std::string_view text);

// A tool's input (a compact JSON object) as a server with the default limits shows it.
std::string condensed_input(std::string_view tool, std::string_view input);

// The event as a server with the default limits keeps it. `event` itself when a server would refuse it.
DriverEvent as_kept(const DriverEvent& event);

}  // namespace shepherd
