// Properties of every driver's output, whatever its agent printed.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "driver/driver.h"
#include "json/read.h"
#include "json/scan.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {

inline constexpr std::int64_t kFuzzStart = 1'794'766'800'000;

inline bool is_json_object(std::string_view text) {
  JsonParser parser(text.size());
  auto root = parser.parse(text);
  return root && root->is_object();
}

// The server accepts the event as it is posted, and its summary is one bounded line.
inline void check_event(const DriverEvent& event) {
  static const CondenseRules kRules;
  Intake intake;
  intake.condense = &kRules;
  intake.now_ms = kFuzzStart;
  std::string posted;
  append_posted(posted, event, 7);
  auto batch = decode_events(posted, Framing::json, intake);
  if (!batch) std::fprintf(stderr, "%s\n%s\n", batch.error().message.c_str(), posted.c_str());
  SHEPHERD_ASSERT(batch.has_value() && batch->drafts.size() == 1, "the server takes every event of a driver");
  SHEPHERD_ASSERT(batch->drafts[0].type == event.type, "and takes it for what the driver does");
  auto summary = string_value(find_member(event.json, "summary"));
  SHEPHERD_ASSERT(summary && characters_in(*summary) <= kMaxSummaryCharacters, "a summary is bounded");
  SHEPHERD_ASSERT(summary->find('\n') == std::string::npos, "a summary is one line");
}

inline void check_said(const auto& events, const auto& deltas) {
  for (const auto& event : events) check_event(event);
  for (const auto& delta : deltas) SHEPHERD_ASSERT(delta.text.size() <= kMaxDeltaBytes, "live text is bounded");
}

inline void check_output(const Actions& out) {
  check_said(out.events(), out.deltas());
  for (const auto& update : out.commands()) {
    SHEPHERD_ASSERT(update.detail.empty() || is_json_object(update.detail), "the detail of a command is an object");
  }
}

// The newest state of a command; accepted if there is none.
inline CommandState settled(const Actions& out, std::string_view id) {
  CommandState state = CommandState::accepted;
  for (const auto& update : out.commands()) {
    if (update.id == id) state = update.state;
  }
  return state;
}

// All events and live text as text, to compare two outputs.
inline std::string said_as_text(const auto& events, const auto& deltas) {
  std::string text;
  for (const auto& event : events) text.append(event.json).append(event.detail).push_back('\n');
  for (const auto& delta : deltas) text.append(delta.block).append(delta.text).push_back('\n');
  return text;
}

// The same of everything a driver wants done.
inline std::string as_text(const Actions& out, const Verdict& verdict) {
  std::string text = said_as_text(out.events(), out.deltas());
  for (const auto& update : out.commands()) {
    text.append(update.id).append(name(update.state)).append(update.reason).push_back('\n');
  }
  return text.append(out.written()).append(name(verdict.state)).append(verdict.message);
}

}  // namespace shepherd
