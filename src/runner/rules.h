// Rules: instructions for every agent of a runner in addition to its task, in files of the runner's owner.
//
// Three sources instruct an agent: the repository's own files (which the agent finds itself), the task's context, and
// these.
// Threads: any.
#pragma once

#include <string>

#include "base/result.h"

namespace shepherd {

// Reads a file, or the *.md files of a directory in the order of their names. An empty path means no rules.
// not_found/no_rules; too_large/rules_too_large above kMaxRulesBytes; invalid_argument/bad_rules if it is not text.
Result<std::string> read_rules(const std::string& path);

}  // namespace shepherd
