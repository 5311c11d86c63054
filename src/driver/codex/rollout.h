// A session as Codex left it on disk (sessions/YYYY/MM/DD/rollout-*.jsonl): the lines of its file in, the events of a
// task out.
//
// The driver translates the lines; this tells what the session was about and how it ended, and gives every event an id,
// so that importing twice adds nothing.
// Threads: caller.
#pragma once

#include <string>
#include <vector>

#include "driver/imported_session.h"

namespace shepherd {

ImportedSession read_codex_rollout(const std::vector<std::string>& lines);

}  // namespace shepherd
