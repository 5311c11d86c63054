// Checks one agent that speaks the Agent Client Protocol, version 1, on its standard streams.
//
// It starts the agent with a throw-away directory as the session's, plays the client, and asks for small pieces of work
// in plain words: an answer, a shell command that it allows, one that it rejects, one that it cancels. What the agent
// does not do cannot be judged: its check then has no result and a note. Fails only if the agent cannot be started,
// does not answer its first request, or asks for a login. Threads: caller.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/acp/limits.h"
#include "harness/report.h"

namespace shepherd::harness {

struct AcpHarnessOptions {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value; the agent's whole environment
  std::chrono::milliseconds answer = kAcpAnswer;
  std::function<void(const std::string&)> progress = {};  // called with what is tried next
  std::string warden_program = "/proc/self/exe";          // see AgentSpec
};

std::span<const CheckTitle> acp_checks();  // in report order

Result<Report> test_acp_agent(const AcpHarnessOptions& options);

// The prompts, for a scripted model: the command is between two backticks.
std::string acp_command_prompt(const std::string& command);

}  // namespace shepherd::harness
