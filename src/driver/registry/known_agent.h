// The agents that Shepherd knows by name: which driver speaks to each, which program it is, how a person installs it.
// Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

struct KnownAgent {
  std::string_view name;     // what a task's `agent` says
  std::string_view title;    // what people call it
  std::string_view driver;   // a name of registry.h
  std::string_view command;  // its program and the words behind it, with a blank between two
  std::string_view install;  // what a person types to install it
  std::string_view keeper;   // the program that has its sessions; agents with the same word share them

  std::vector<std::string> words() const;  // of `command`
};

// By name.
std::span<const KnownAgent> known_agents();

// nullptr for an unknown name.
const KnownAgent* known_agent(std::string_view name);

// The program that has the sessions of the agent of this name, or of agents of the driver of this name; empty if
// unknown.
std::string_view session_keeper(std::string_view name);

}  // namespace shepherd
