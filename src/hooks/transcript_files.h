// Claude Code's transcripts on this machine: where they are, and what belongs to one.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/find_server.h"
#include "driver/claude/transcript.h"

namespace shepherd {

// ~/.claude/projects, or under CLAUDE_CONFIG_DIR.
Result<std::string> transcripts_directory(const Environment& environment);

// Every session's file in it, oldest first. Files of sub-agents are not among them.
Result<std::vector<std::string>> all_transcripts(const std::string& directory);

// The file of a session by its id; not_found says where it was looked for.
Result<std::string> transcript_of_session(const std::string& directory, const std::string& session);

// A session's file and those of its sub-agents (SESSION/subagents beside it).
Result<std::vector<TranscriptFile>> read_transcript_files(const std::string& path);

// The call that started a sub-agent, by the sub-agent's own file; empty when older versions did not say: its lines
// still belong to the session.
std::string sub_agent_call(const std::string& file);

}  // namespace shepherd
