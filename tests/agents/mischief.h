// An agent that does what no well-behaved one does, when its script says so.
// Threads: caller.
#pragma once

#include "demo/agent.h"

namespace scripted {

class MischievousAgent final : public Agent {
 public:
  using Agent::Agent;

 private:
  bool perform_more(const json::object& step) override;
  // Appends its process id and its task's id to the file that SCRIPTED_AGENT_PIDS names, so that a test can look for
  // survivors.
  void process_began() override;

  void tick(const json::object& step);
  void flood(double bytes);
  void garbage(std::string_view kind);
  void fork_children(const json::object& how);
};

}  // namespace scripted
