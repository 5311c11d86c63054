// Runs git in one work tree with one environment: quiet, without prompts, without hooks, over the usual protocols.
// Threads: value; calls block.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/program_output.h"
#include "runner/limits.h"

namespace shepherd {

// Whether a token may be sent to this repository's host: over https, or to this machine itself.
bool takes_token(std::string_view repo_url);

// Environment variables that let git authenticate with a token at the repository's own host, for us and for the agent.
// Git sends the token nowhere else: not to a redirect's target and not to another host that the agent uses. Only one
// variable has the token itself; no argument, URL or file has it. Empty without a token, and for a host that may not
// get it.
std::vector<std::string> git_credentials(const std::string& token, std::string_view repo_url);

// The branch of a task: shepherd/{task}, with %2E for dots that git does not allow.
std::string task_branch(std::string_view task);

class Git {
 public:
  // `environment` is git's whole environment; it must have PATH and HOME.
  Git(std::string directory, std::vector<std::string> environment, const Clock& clock,
      std::string warden_program = "/proc/self/exe");

  // Returns standard output without its last newline. Errors: unavailable/git_failed with git's message, or those of
  // run_program().
  Result<std::string> run(std::vector<std::string> words) const;
  // The same, but empty on failure, for things that may not exist.
  std::string ask(std::vector<std::string> words) const { return run(std::move(words)).value_or(""); }

  const std::string& directory() const { return directory_; }
  Git in(std::string directory) const;
  // Fixes the repository and the top of its work tree, whatever the configuration or a `.git` in the tree says later.
  Git pinned_to(const std::string& repository, const std::string& tree) const;
  Git stopped_by(ProgramStop* stop) const;  // may be null
  Git within(std::chrono::milliseconds timeout) const;
  // For a tree in which an agent has worked: ignores programs named in its configuration or attributes or the user's,
  // fetches nothing, and has no credential in the environment. Filters (clean, smudge, process) are the exception,
  // because the tree chooses their names: without_filters() finds them now and switches them off from here on.
  Git inspecting() const;
  Git without_filters() const;

 private:
  std::string directory_;
  std::vector<std::string> environment_;
  const Clock* clock_;
  std::string warden_program_;
  std::chrono::milliseconds timeout_ = kGitTimeout;
  ProgramStop* stop_ = nullptr;
  bool inspecting_ = false;
};

// The lines of git's output without empty ones.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace shepherd
