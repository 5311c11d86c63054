// How a runner runs an agent: its place, its program or address, what it may do, how it is ended.
// Threads: value.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "prices/model_price.h"
#include "process/agent_link.h"
#include "process/confinement.h"
#include "runner/limits.h"
#include "runner/remote_agent.h"

namespace shepherd {

struct AgentSettings {
  std::string directory;                 // its working directory
  std::vector<std::string> environment;  // NAME=value; the driver's own are added
  std::string driver;                    // its driver; empty for the one with the agent's name
  std::string program;                   // empty for the driver's default
  std::vector<std::string> command;      // the program with arguments of its own; empty for the program alone
  std::vector<std::string> secrets;      // values in its environment that must not appear in a log
  std::string version;                   // as reported by that program; empty if unknown
  std::string rules;                     // instructions for every agent of this runner; empty for none
  LaunchOptions options;                 // the driver's own
  PriceTable prices;                     // of models whose cost the agent does not tell
  bool deltas = true;
  bool keep_open = false;  // after its turn, wait for an operator instead of ending it
  StopPlan ladder;         // without `interrupt`, which the driver provides
  std::chrono::milliseconds stall = kStallSilence;
  std::chrono::milliseconds end_wait = kAgentEndWait;  // time for an agent whose work is done to exit by itself
  std::string warden_program = "/proc/self/exe";
  Confinement confinement;
  std::optional<RemoteAgent> remote;  // for drivers of remote services
};

}  // namespace shepherd
