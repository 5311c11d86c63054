// The exit codes of every command, in one place, because scripts depend on them.
// Threads: value.
#pragma once

#include <string>

#include "base/error.h"

namespace shepherd {

enum class ExitCode : int {
  ok = 0,
  failed = 1,            // any other failure
  usage = 2,             // the command line or the configuration is wrong
  unreachable = 3,       // no server, or it cannot answer now: a retry may help
  refused = 4,           // not signed in, or not permitted
  not_found = 5,         // no such task, token or event
  conflict = 6,          // already exists with different content, or has ended
  task_failed = 7,       // run, watch: the task ended but did not complete
  task_timed_out = 8,    // run: it took too long
  task_cancelled = 9,    // run: it was stopped
  command_refused = 10,  // steering: the agent or the server refused it
  command_expired = 11,  // steering: no runner took it in time
};

ExitCode exit_code_of(const Error& error);

// The table of exit codes for --help.
std::string exit_code_help();

}  // namespace shepherd
