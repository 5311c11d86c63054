// The file of `shepherd run --tasks`: YAML, a list of tasks, or an object with `parallel`, `defaults` and `tasks`.
//
//   parallel: 2
//   defaults: {agent: claude, mode: autonomous}
//   tasks:
//     - name: docs
//       prompt: bring the README up to date
//       worktree: true
//     - {name: tests, command: [make, test], directory: service, timeout: 10m, environment: {CI: "1"}}
//
// Errors are invalid_argument and name the file, the line and a correct value.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_request.h"
#include "config/config.h"

namespace shepherd {

struct TaskFile {
  int parallel = 1;
  std::vector<RunRequest> tasks;  // at least one; names are unique
};

// `flags` are the command line's settings for all tasks; the file's own settings win. `config` has the agents.
Result<TaskFile> read_task_file(const std::string& path, const RunRequest& flags, const Config& config);
Result<TaskFile> parse_task_file(const std::string& text, const std::string& name, const RunRequest& flags,
                                 const Config& config);

}  // namespace shepherd
