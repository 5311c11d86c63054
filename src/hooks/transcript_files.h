// Finds Claude Code's transcripts on this machine and the files that belong to each.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/find_server.h"
#include "driver/claude/transcript.h"

namespace shepherd {

// ~/.claude/projects, or the same under CLAUDE_CONFIG_DIR.
Result<std::string> transcripts_directory(const Environment& environment);

// The files of all sessions in the directory, oldest first, without those of sub-agents.
Result<std::vector<std::string>> all_transcripts(const std::string& directory);

// The file of a session by its id; not_found names the places that were searched.
Result<std::string> transcript_of_session(const std::string& directory, const std::string& session);

// A session's file and those of its sub-agents (SESSION/subagents beside it).
Result<std::vector<TranscriptFile>> read_transcript_files(const std::string& path);

// The call that started a sub-agent, from the sub-agent's own file. Empty for files of older versions, which do not
// record it; their lines still belong to the session.
std::string sub_agent_call(const std::string& file);

}  // namespace shepherd
