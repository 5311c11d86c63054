// The tool that runs a shell command. Threads: any; the tool is the loop's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "net/event_loop.h"
#include "process/confinement.h"
#include "tools/built_in_tool.h"

namespace shepherd {

// Everything referred to outlives the tool.
struct RunCommandParts {
  net::EventLoop& loop;
  Executor& blocking;
  const Clock& clock;
  std::string directory;
  std::vector<std::string> environment;
  Confinement confinement;
  std::string warden_program;
  std::int64_t max_seconds;
};

// Destroying it waits until no process of its commands is left; their runs are destroyed before.
std::unique_ptr<BuiltInTool> make_run_command(RunCommandParts parts);

}  // namespace shepherd
