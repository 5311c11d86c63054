// A command's output: standard output or error, with colour only on a terminal. A reader that closes the pipe
// (`shepherd tasks | head -1`) is not an error: closed() becomes true and further writes do nothing.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "client/find_server.h"

namespace shepherd {

enum class Color { plain, bold, dim, red, green, yellow, blue, magenta, cyan };

// Threads: caller.
class Output {
 public:
  // Uses colour on a terminal that is not "dumb" if NO_COLOR is not set.
  Output(std::FILE* file, const Environment& environment);
  // Collects the text instead (tests).
  explicit Output(std::string& sink) : sink_(&sink) {}

  void line(std::string_view text);
  // Shows a line that the next one replaces, only on a terminal; empty removes it. For temporary text such as progress
  // and keys.
  void status(std::string_view text);
  void flush();
  bool closed() const { return closed_; }
  bool is_terminal() const { return is_terminal_; }
  bool colored() const { return colored_; }
  std::size_t columns() const;  // width of the terminal; a generous width for files and pipes

  std::string paint(Color color, std::string_view text) const;
  // Prints JSON from the server; escaped if the output is a terminal.
  void json_line(std::string_view json);

 private:
  std::FILE* file_ = nullptr;
  std::string* sink_ = nullptr;
  bool is_terminal_ = false;
  bool colored_ = false;
  bool movable_ = false;  // the cursor can return to the start of the line
  bool has_status_ = false;
  bool closed_ = false;
};

}  // namespace shepherd
