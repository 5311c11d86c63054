// One task that runs here, at a terminal: its log as it grows, Ctrl-C, and what the operator types.
#pragma once

#include "cli/context.h"
#include "cli/end_signals.h"
#include "cli/local_runner.h"

namespace shepherd {

struct TerminalRunOptions {
  bool json = false;
  bool brief = false;  // the agent's text as one line
  bool quiet = false;  // print nothing at all
};

// Blocks until the task has ended and its log is delivered.
//
// Ctrl-C once interrupts the agent (what it can be interrupted at), twice stops it, three times kills it. SIGTERM and
// SIGHUP stop it. Each says what the next one does. On a terminal a typed line steers the agent; while it waits for an
// approval, y and n decide about the one that was asked last on the screen, and while it asks a question, the line is
// the answer.
// Threads: caller.
TaskOutcome run_at_terminal(Context& context, LocalRunner& runner, TaskRun& run, RunHost& host,
                            const EndSignals& signals, const TerminalRunOptions& options);

}  // namespace shepherd
