// git as a program: one work tree, one environment. Quiet, without prompts, without hooks, over the usual protocols.
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

// Whether a token may be sent to the host of this repository: over https, or to this machine itself.
bool takes_token(std::string_view repo_url);

// Variables that let git sign in with a token at the repository's own host, for us and for the agent. It goes to no
// other host: not to where that host redirects, nor to another one that the agent talks to. The token itself stands in
// one variable only: it is in no argument, no URL and no file. Empty without a token, and for a host that may not have
// it.
std::vector<std::string> git_credentials(const std::string& token, std::string_view repo_url);

// The branch of a task: shepherd/{task}, with dots where git would not have them as %2E.
std::string task_branch(std::string_view task);

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
  // The repository and the top of its work tree, whatever the configuration or a `.git` in the tree says by then.
  Git pinned_to(const std::string& repository, const std::string& tree) const;
  Git stopped_by(ProgramStop* stop) const;  // null: never
  Git within(std::chrono::milliseconds timeout) const;
  // For a tree in which an agent has worked: nothing in its configuration, attributes or the user's that names a
  // program is followed, nothing is fetched, and no credential is in the environment. But for filters (clean, smudge,
  // process), whose names the tree makes up: without_filters() looks for them now and switches them off from here on.
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

// What git prints line by line; empty lines are left out.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace shepherd
