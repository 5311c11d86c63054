// One task of `shepherd run`, from the flags of the command line or an entry of a task file.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct RunRequest {
  std::string name;                  // the task's title, or empty
  std::string id;                    // empty: the server creates one
  std::string prompt;                // a task has a prompt or a command
  std::vector<std::string> command;  // a command line to run
  std::string agent = "claude";      // for a prompt
  bool agent_given = false;          // if not, a resumed task keeps its agent
  std::string address;               // of an agent of type grpc
  std::string program;               // the agent's program; empty: the default
  std::string model, mode, context;
  std::string resume_of;  // task whose conversation to resume
  std::string directory;  // empty: the current directory
  bool worktree = false;
  bool keep_open = false;
  std::int64_t max_turns = 0;
  std::int64_t timeout_seconds = 0;
  double budget_usd = 0;
  std::vector<std::string> allowed_tools;
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> labels;

  // The command line as a person would type it.
  std::string command_line() const;
};

// Checks the task's directory before the task is created: it exists and, for a work tree, belongs to a repository with
// a commit. Errors: invalid_argument/bad_directory, no_repository.
Result<void> check_place(const RunRequest& request);

// Quotes a word for the shell if necessary.
std::string shell_word(const std::string& word);

// The body of POST /api/v1/tasks; `runner` is the runner that will claim the task.
std::string creation_body(const RunRequest& request, const std::string& runner);

}  // namespace shepherd
