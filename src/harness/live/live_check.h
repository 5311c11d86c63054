// A short live check of an agent that Shepherd knows: the real program, its real driver and the runner's own path, and
// a scripted model on loopback.
//
// The agent gets a throw-away home and work directory and an environment of its own, so no account of the user is used.
// The checks are few: a run with one command, an approval, a denial, an interrupt, a stop in the middle of a command.
// What this agent cannot do is not checked, and the report says so. The log of each check is written to a directory,
// which is kept if a check failed.
//
// Fails if there is no recipe for the agent (harness/model/recipe.h), or it cannot be started. Threads: caller.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/live/limits.h"
#include "harness/report.h"

namespace shepherd::harness {

struct LiveOptions {
  std::string agent;                 // its name, as a task would give it
  std::string driver;                // the driver's name
  std::vector<std::string> command;  // its program, and the words behind it
  std::string path;                  // the PATH of its environment
  std::chrono::milliseconds answer = kLiveCheckAnswer;
  std::function<void(const std::string&)> progress = {};  // called with what is tried next
  std::string warden_program = "/proc/self/exe";          // see AgentSpec
};

struct LiveReport {
  Report report;
  std::string logs;  // the directory with the logs of the checks; empty if it was deleted
};

std::span<const CheckTitle> live_checks();  // in report order

Result<LiveReport> test_agent_live(const LiveOptions& options);

}  // namespace shepherd::harness
