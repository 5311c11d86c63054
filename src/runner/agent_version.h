// Which version of an agent's program is installed: asked of the program itself, once for each file there is.
//
// A program that cannot be asked, does not answer in time or says no number has no version (empty text): its driver
// then takes it for the newest it knows. Another file at the same path is asked again. Threads: any.
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
  // `question` is the agent's own way to be asked: its command says the program and an option.
  std::string ask(const AgentSpec& question, const Clock& clock, ProgramStop* stop) EXCLUDES(mutex_);

 private:
  struct Known {
    std::string stamp;    // of the file that was asked
    bool asking = false;  // another thread waits for its answer
    std::string version;
  };

  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, Known> known_ GUARDED_BY(mutex_);  // by path
};

// The first line of what a program said of its version; empty when no digit is in it.
std::string version_line(std::string_view output);

}  // namespace shepherd
