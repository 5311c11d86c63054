// An entry of the `agents` section: an agent under a user-defined name.
// Threads: value.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runner/remote_agent.h"

namespace shepherd {

// A program that the runner starts.
struct ProgramAgent {
  std::vector<std::string> command;                // program and arguments
  std::map<std::string, std::string> environment;  // added to what every agent gets
};

struct AgentEntry {
  std::string driver;  // which driver speaks to it
  std::variant<ProgramAgent, RemoteAgent> way;

  const ProgramAgent* program() const { return std::get_if<ProgramAgent>(&way); }
  const RemoteAgent* remote() const { return std::get_if<RemoteAgent>(&way); }
};

}  // namespace shepherd
