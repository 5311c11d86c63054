// Rules: what every agent of a runner is told beside its task, in files that the runner's owner keeps.
//
// Three sources instruct an agent: the repository's own files (the agent finds them), the task's context, and these.
// Threads: any.
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

// A file, or the *.md files of a directory in the order of their names. Empty path: no rules.
// not_found/no_rules; too_large/rules_too_large above kMaxRulesBytes; invalid_argument/bad_rules when it is not text.
Result<std::string> read_rules(const std::string& path);

}  // namespace shepherd
