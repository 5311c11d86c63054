// A past session of an agent, as its own files tell of it: the events of a task, and how the task ended.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/driver.h"

namespace shepherd {

struct TranscriptEvent {
  std::int64_t at_ms = 0;
  DriverEvent event;
};

struct ImportedSession {
  std::string agent = "claude";  // its driver's name
  std::string session_id, cwd, model;
  std::string prompt;                   // the first one
  std::vector<TranscriptEvent> events;  // in order; empty: nothing happened
  State state = State::completed;       // how it ended
  std::string message;
  std::int64_t first_ms = 0, last_ms = 0;
};

// Adds the events, with the times that they say or else the newest of the session.
void add_events(ImportedSession& session, Actions out);
// Totals and damaged lines have no id of the agent's: they are known by their kind, time and place among equals.
void name_the_nameless(ImportedSession& session);

// The status event that ends a session's task, and the newest usage event of it (events.size(): none).
DriverEvent session_end(const ImportedSession& session);
std::size_t newest_usage(const ImportedSession& session);

}  // namespace shepherd
