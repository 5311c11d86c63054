// The tools that the server has itself:
//
//   list_files, read_file      files below a root directory; need no approval
//   write_file, edit_file      the same; a person approves each use
//   run_command                a shell command in the root, run as agents are; a person approves each use
//   fetch_url                  an http(s) address as text; a person approves each use, because an address can carry
//   data
//                              to its server
//   search_sessions            messages of past sessions; needs no approval
//
// "Approves each use" is the rule for sessions that do not allow the tool (Tool::asks). Every result is bounded, valid
// UTF-8, and says what was left out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "process/confinement.h"
#include "tools/tool_settings.h"
#include "tools/toolbox.h"

namespace shepherd {

// A message of a past session. Threads: value.
struct FoundMessage {
  std::string session;  // the task
  std::int64_t time_ms = 0;
  std::string role;
  std::string text;  // the part that matches
};

// The newest messages of chat sessions that match, at most `limit`. It may block.
using SearchMessages = std::function<Result<std::vector<FoundMessage>>(std::string_view query, std::size_t limit)>;

// All of these outlive the toolbox.
struct BuiltInParts {
  net::EventLoop& loop;  // where tools are started and answer
  Executor& blocking;    // threads for files and for starting processes; several at once
  const Clock& clock;
  SearchMessages search;                 // empty: search_sessions is not offered
  std::vector<std::string> environment;  // NAME=value, of commands (command_environment.h)
  // Of commands. Its hidden paths are hidden from the tools for files, too, because those run in this process.
  Confinement confinement;
  std::string warden_program = "/proc/self/exe";
};

// invalid_argument/bad_config for an unknown name, and for a root that is not a directory. Destroying the toolbox
// cancels what runs, ends all processes and waits for that; `blocking` must still run then.
// Threads: any; the toolbox is a strand's, the loop's.
Result<std::unique_ptr<Toolbox>> open_built_in_tools(const ToolSettings& settings, BuiltInParts parts);

}  // namespace shepherd
