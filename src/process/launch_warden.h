// Starts a warden and, through it, one agent. Threads: any.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "process/confinement.h"
#include "process/process_tree.h"
#include "process/shared_confinement.h"

namespace shepherd {

struct AgentSpec {
  std::vector<std::string> command;      // program, looked up in the environment's PATH, and its arguments
  std::vector<std::string> environment;  // NAME=value; the agent's whole environment
  std::string directory;
  std::string begins_in;                          // where the program begins, if not in `directory`
  bool with_stdin = true;                         // if false, it reads an empty file
  std::string warden_program = "/proc/self/exe";  // runs warden_main() for the argument `__warden`
  Confinement confinement;
  // Confined as that agent is, instead of by `confinement`. It may have ended meanwhile.
  std::shared_ptr<const SharedConfinement> beside = nullptr;
};

struct LaunchedAgent {
  pid_t warden = 0, agent = 0;
  pid_t first = 0;          // init process of a confined agent's PID namespace (warden_init.h)
  Descriptor socket;        // to the warden
  Descriptor in, out, err;  // our ends of the agent's streams, non-blocking; `in` is empty without stdin
  ConfineLevel confined = ConfineLevel::none;  // the level in effect
  ConfineMeans means = ConfineMeans::none;     // the means in effect
  std::vector<ConfineStep> steps;              // of the confinement
  std::string why_not_better;                  // if it is not the requested level, or not by namespaces
};

// Returns once the agent's program runs. not_found/cannot_start if there is no such program or directory,
// unavailable/cannot_start if the machine has no descriptors or processes left, and cannot_confine if the machine
// cannot provide a required confinement; one that is not required is then left out, but never that of `beside`. Tries
// namespaces first, then Landlock. On failure nothing is left behind.
Result<LaunchedAgent> launch_agent(const AgentSpec& spec);

// Call it in the end, once for every launched warden; it reaps the warden. With `stuck` the warden still waits for a
// process that cannot be killed, and is left running.
void release_warden(pid_t warden, bool stuck);

// Processes, and their descendants, that became ours because their warden was killed. Their session distinguishes them
// from this process's own children: an agent's descendants are never in ours.
std::vector<ProcessStat> orphans_of_wardens(const Visit& visit = {});

}  // namespace shepherd
