// Finds the sessions that Codex has kept on this machine: sessions/YEAR/MONTH/DAY/rollout-TIME-SESSION.jsonl.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/find_server.h"

namespace shepherd {

// ~/.codex/sessions, or the same under CODEX_HOME.
Result<std::string> rollouts_directory(const Environment& environment);

// The files of all sessions in the directory, oldest first.
Result<std::vector<std::string>> all_rollouts(const std::string& directory);

// The file of a session by its id; not_found names the place that was searched.
Result<std::string> rollout_of_session(const std::string& directory, const std::string& session);

}  // namespace shepherd
