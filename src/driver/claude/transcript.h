// A session as Claude Code left it on disk: its file and those of its sub-agents in, the events of a task out.
//
// The driver translates the lines; this puts the files together in the order in which things happened, tells where the
// session began and how it ended (transcripts say neither), and gives every event an id, so that importing twice adds
// nothing. Tokens are counted once per message, sub-agents included; cost is the agent's own total where it is written.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.h"

namespace shepherd {

// One file, line by line.
struct TranscriptFile {
  std::string parent_call;  // of a sub-agent: the call that started it; empty: the session's own file
  std::vector<std::string> lines;
};

struct TranscriptEvent {
  std::int64_t at_ms = 0;
  DriverEvent event;
};

struct ImportedSession {
  std::string session_id, cwd, model;
  std::string prompt;                   // the first one
  std::vector<TranscriptEvent> events;  // in order; empty: nothing happened
  State state = State::completed;       // how it ended
  std::string message;
  std::int64_t first_ms = 0, last_ms = 0;
};

ImportedSession read_claude_transcript(const std::vector<TranscriptFile>& files);

// The status event that ends a session's task, and the newest usage event of it (events.size(): none).
DriverEvent claude_session_end(const ImportedSession& session);
std::size_t newest_usage(const ImportedSession& session);

}  // namespace shepherd
