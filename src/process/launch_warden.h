// Starts a warden and, through it, one agent. Threads: any.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "process/confinement.h"
#include "process/process_tree.h"

namespace shepherd {

struct AgentSpec {
  std::vector<std::string> command;      // program, looked up in the environment's PATH, and its arguments
  std::vector<std::string> environment;  // NAME=value; all that the agent sees
  std::string directory;
  bool with_stdin = true;                         // false: it reads an empty file
  std::string warden_program = "/proc/self/exe";  // answers `__warden` with warden_main()
  Confinement confinement;
};

struct LaunchedAgent {
  pid_t warden = 0, agent = 0;
  pid_t first = 0;          // of a confined agent's own process numbers (warden_init.h)
  Descriptor socket;        // to the warden
  Descriptor in, out, err;  // our ends of the agent's streams, non-blocking; `in` is empty without stdin
  ConfineLevel confined = ConfineLevel::none;  // the level that holds
  ConfineMeans means = ConfineMeans::none;     // by this
  std::string why_not_better;                  // when it is not the wanted level, or not by namespaces
};

// Returns once the agent's program runs. not_found/cannot_start when there is no such program or directory,
// unavailable/cannot_start when the machine has no descriptors or processes left, and cannot_confine when the machine
// cannot give the confinement that is required; one that is not required is left out then. Namespaces are tried first,
// then Landlock. Nothing is left over on failure.
Result<LaunchedAgent> launch_agent(const AgentSpec& spec);

// Called once for every launched warden, in the end: reaps it. `stuck` true: it still waits for a process that cannot
// be killed, and is left running.
void release_warden(pid_t warden, bool stuck);

// Processes that came to this process because their warden was killed, and all below them. They are told apart from
// this process's own children by their session: an agent's descendants are never in ours.
std::vector<ProcessStat> orphans_of_wardens(const Visit& visit = {});

}  // namespace shepherd
