// The lines that a person typed earlier, in a file that only they can read: one JSON string per line, the newest last.
//
// A file that cannot be read or written is no error: the history is then this process's alone. Processes that write at
// the same time may drop each other's oldest lines, never mix two.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/find_server.h"

namespace shepherd {

class InputHistory {
 public:
  // "": nothing is kept.
  explicit InputHistory(std::string file);

  const std::vector<std::string>& lines() const { return lines_; }  // the oldest first
  void add(const std::string& line);

 private:
  void rewrite() const;

  const std::string file_;
  std::vector<std::string> lines_;
};

// $XDG_STATE_HOME/shepherd/NAME or ~/.local/state/shepherd/NAME; empty without a home directory.
std::string history_file(const Environment& environment, std::string_view name);

}  // namespace shepherd
