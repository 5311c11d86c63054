// What one task of `shepherd run` is: the flags of the command line, or an entry of a task file.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct RunRequest {
  std::string name;                  // the task's title; empty: none
  std::string id;                    // empty: the server makes one
  std::string prompt;                // what to do, or
  std::vector<std::string> command;  // a command line to run
  std::string agent = "claude";      // of a prompt
  std::string address;               // of the agent grpc: where it is
  std::string program;               // the agent's; empty: its usual one
  std::string model, mode, context;
  std::string resume_of;  // go on with that task's conversation
  std::string directory;  // empty: the current one
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

// Whether the task can work where it is told to: the directory is there, and for a work tree it belongs to a repository
// with a commit. Asked before a task is made of a typing mistake. Errors: invalid_argument/bad_directory,
// no_repository.
Result<void> check_place(const RunRequest& request);

// A word as a shell needs it: quoted unless it is plain.
std::string shell_word(const std::string& word);

// The body of POST /api/v1/tasks; `runner` is who will claim it.
std::string creation_body(const RunRequest& request, const std::string& runner);

}  // namespace shepherd
