// Where an agent works, and what it leaves there.
//
//   as_is      a directory that is there already
//   worktree   a git work tree of that directory's repository, on branch shepherd/{task} (task_branch()), under the
//   data directory clone      a fresh clone of the task's repository at its ref, on the same branch
//
// A task's context and the runner's rules (rules.h) go into files beside the tree, whose paths the agent finds in
// SHEPHERD_CONTEXT and SHEPHERD_RULES; so they are in no diff and overwrite nothing. Work trees and clones stay when
// the task ends: what the agent did is in them, and the result names the place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runner/git.h"
#include "runner/task_order.h"

namespace shepherd {

enum class WorkspaceKind : std::uint8_t { as_is, worktree, clone };

struct WorkspaceOptions {
  WorkspaceKind kind = WorkspaceKind::as_is;
  std::string directory;                 // as_is, worktree: the directory that is there
  std::string workspaces;                // worktree, clone: a directory of ours to make it in
  std::vector<std::string> environment;  // what git sees, credentials included
  std::string warden_program = "/proc/self/exe";
  std::string rules;            // file or directory; empty: none
  ProgramStop* stop = nullptr;  // ends the preparation; null: never
};

// What a task leaves. Threads: value.
struct WorkResult {
  std::string branch, head;
  std::vector<std::string> commits;  // "<hash> <subject>", newest first, at most kMaxResultCommits
  std::size_t commit_count = 0;
  std::vector<std::string> files;  // changed since the start, committed or not, at most kMaxResultFiles
  std::size_t file_count = 0;
  std::int64_t insertions = 0, deletions = 0;

  bool empty() const { return commit_count == 0 && file_count == 0; }
};

// Threads: caller.
class Workspace {
 public:
  // Errors say what to do: not_found for a directory that is none, invalid_argument/no_repository, those of git.
  // gone/program_stopped when it was stopped: what git had made of the tree by then is gone again.
  static Result<Workspace> prepare(const TaskOrder& order, const WorkspaceOptions& options, const Clock& clock);

  const std::string& directory() const { return directory_; }
  WorkspaceKind kind() const { return kind_; }
  const std::string& rules() const { return rules_; }  // their text; empty: none
  // Variables for the agent.
  const std::vector<std::string>& environment() const { return environment_; }
  // Compares the tree with how it was, within kWorkResultTimeout; what was not learned by then is left out. nullopt
  // when it is no git work tree.
  std::optional<WorkResult> collect() const;

 private:
  Workspace(WorkspaceKind kind, std::string directory, Git git)
      : kind_(kind), directory_(std::move(directory)), git_(std::move(git)) {}
  Result<void> stage(const TaskOrder& order, const WorkspaceOptions& options, const std::string& beside);
  void remember_start();
  std::vector<std::string> numstat_words() const;

  WorkspaceKind kind_;
  std::string directory_;
  Git git_;                       // inspects: what is there may be an agent's doing
  const Clock* clock_ = nullptr;  // set with it
  std::string rules_;
  std::vector<std::string> environment_;
  bool is_git_ = false;
  std::string start_commit_;                  // empty: no commit yet
  std::vector<std::string> untracked_start_;  // files that were there without being git's
  std::string dirty_start_;                   // `diff --numstat` of what was changed already
};

}  // namespace shepherd
