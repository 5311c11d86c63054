// Runs another program to its end and keeps what it printed, such as git.
// Threads: any.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/agent_process.h"
#include "process/program_stop.h"

namespace shepherd {

struct ProgramOutput {
  AgentExit exit;
  std::string out, err;  // at most kMaxProgramOutputBytes each

  bool good() const { return exit.code == 0 && exit.signal == 0; }
};

// No process of the program survives the call. Errors: those of AgentProcess::start(); unavailable/program_timeout;
// gone/program_stopped when `stop` (null: none) came before its end.
Result<ProgramOutput> run_program(const AgentSpec& spec, std::chrono::milliseconds timeout, const Clock& clock,
                                  ProgramStop* stop = nullptr);

}  // namespace shepherd
