// A session as Claude Code left it on disk: its file and those of its sub-agents in, the events of a task out.
//
// The driver translates the lines; this puts the files together in the order in which things happened, tells where the
// session began and how it ended (transcripts say neither), and gives every event an id, so that importing twice adds
// nothing. Tokens are counted once per message, sub-agents included; cost is the agent's own total where it is written.
// Threads: caller.
#pragma once

#include <string>
#include <vector>

#include "driver/imported_session.h"

namespace shepherd {

// One file, line by line.
struct TranscriptFile {
  std::string parent_call;  // of a sub-agent: the call that started it; empty: the session's own file
  std::vector<std::string> lines;
};

ImportedSession read_claude_transcript(const std::vector<TranscriptFile>& files);

}  // namespace shepherd
