// The installed version of an agent's program, queried from the program once for each file.
//
// A program that cannot be run, does not answer in time or prints no number has no version (empty text); its driver
// then treats it as the newest supported one. A changed file at the same path is queried again. Threads: any.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "process/program_output.h"

namespace shepherd {

class AgentVersions {
 public:
  // `question` is the agent's command for the query: the program and an option.
  std::string ask(const AgentSpec& question, const Clock& clock, ProgramStop* stop) EXCLUDES(mutex_);

 private:
  struct Known {
    std::string stamp;    // of the queried file
    bool asking = false;  // a thread waits for its answer
    std::string version;
  };

  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Known> known_ GUARDED_BY(mutex_);  // by path
};

// The first line of a program's version output; empty if it has no digit.
std::string version_line(std::string_view output);

}  // namespace shepherd
