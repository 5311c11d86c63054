// What an agent asks of the machine it runs on: a file of its work tree, a command in a terminal. A driver translates
// between these and its agent's words; the runner does them.
// Threads: value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace shepherd {

// Paths are absolute, or relative to the task's directory; none may lead out of it.
struct ReadFile {
  std::string path;
  std::optional<std::size_t> line;   // the first one to read, from 1
  std::optional<std::size_t> limit;  // how many
};
struct WriteFile {
  std::string path, content;
};

// A command whose output is kept until the terminal is released. It runs beside the agent and ends with it.
struct StartTerminal {
  std::vector<std::string> command;       // argv
  std::vector<std::string> environment;   // NAME=value, added to the agent's own
  std::string directory;                  // empty: the task's
  std::optional<std::size_t> keep_bytes;  // of its newest output
};
struct LookAtTerminal {  // without waiting
  std::string terminal;
};
struct AwaitTerminal {  // until the command has ended
  std::string terminal;
};
struct KillTerminal {  // ends the command; the terminal stays
  std::string terminal;
};
struct ReleaseTerminal {  // ends the command, too
  std::string terminal;
};

using HostRequest =
    std::variant<ReadFile, WriteFile, StartTerminal, LookAtTerminal, AwaitTerminal, KillTerminal, ReleaseTerminal>;

struct HostCall {
  std::string id;  // the driver's; each call is answered once
  HostRequest request;
};

struct FileText {
  std::string text;
};
struct TerminalStarted {
  std::string terminal;
};
struct TerminalState {
  std::string output;
  bool cut = false;  // its beginning is missing
  bool running = true;
  std::optional<int> code;    // how the command ended: its exit code
  std::optional<int> signal;  // what killed it instead
};
struct HostDone {};

struct HostAnswer {
  std::string id;
  Result<std::variant<HostDone, FileText, TerminalStarted, TerminalState>> result;
};

}  // namespace shepherd
