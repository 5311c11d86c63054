// Runs one task at a terminal: its log as it grows, Ctrl-C, and the operator's input.
#pragma once

#include "cli/context.h"
#include "cli/end_signals.h"
#include "cli/local_runner.h"

namespace shepherd {

struct TerminalRunOptions {
  bool json = false;
  bool brief = false;  // the agent's text as one line
  bool quiet = false;  // prints nothing at all
};

// Blocks until the task has ended and its log is delivered.
//
// The first Ctrl-C interrupts the agent (if it can be interrupted), the second stops it, the third kills it. SIGTERM
// and SIGHUP stop it. Each prints what the next one does. On a terminal a typed line steers the agent. While it waits
// for an approval, y and n decide the one shown last on the screen; while it asks a question, the line is the answer.
// Threads: caller.
TaskOutcome run_at_terminal(Context& context, LocalRunner& runner, TaskRun& run, RunHost& host,
                            const EndSignals& signals, const TerminalRunOptions& options);

}  // namespace shepherd
