// git as a program: one work tree, one environment. Quiet, without prompts, without the user's hooks for our commands.
// Threads: value; calls block.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runner/limits.h"
#include "runner/program_output.h"

namespace shepherd {

// Variables that let git sign in with a token, for us and for the agent. The token itself stands in one of them only:
// it is in no argument, no URL and no file. Empty without a token.
std::vector<std::string> git_credentials(const std::string& token);

class Git {
 public:
  // `environment` is all that git sees; PATH and HOME belong in it.
  Git(std::string directory, std::vector<std::string> environment, const Clock& clock,
      std::string warden_program = "/proc/self/exe");

  // Standard output without its last newline. Errors: unavailable/git_failed with what git said, or those of
  // run_program().
  Result<std::string> run(std::vector<std::string> words) const;
  // The same, empty when it fails: for what may well not be there.
  std::string ask(std::vector<std::string> words) const { return run(std::move(words)).value_or(""); }

  const std::string& directory() const { return directory_; }
  Git in(std::string directory) const;
  Git stopped_by(ProgramStop* stop) const;  // null: by nobody
  Git within(std::chrono::milliseconds timeout) const;

 private:
  std::string directory_;
  std::vector<std::string> environment_;
  const Clock* clock_;
  std::string warden_program_;
  std::chrono::milliseconds timeout_ = kGitTimeout;
  ProgramStop* stop_ = nullptr;
};

}  // namespace shepherd
