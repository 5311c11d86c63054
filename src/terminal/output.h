// Where a command writes: standard output or error, with colour only when a person is looking. A reader that went away
// (`shepherd tasks | head -1`) is not an error: closed() turns true and writing does nothing more.
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
  // Colour: a terminal that is not "dumb", and NO_COLOR is not set.
  Output(std::FILE* file, const Environment& environment);
  // Collects the text instead (tests).
  explicit Output(std::string& sink) : sink_(&sink) {}

  void line(std::string_view text);
  // A line that the next one replaces, on a terminal only; empty: none. For what passes by: progress, keys.
  void status(std::string_view text);
  void flush();
  bool closed() const { return closed_; }
  bool is_terminal() const { return is_terminal_; }
  std::size_t columns() const;  // of the terminal; a generous width for files and pipes

  std::string paint(Color color, std::string_view text) const;
  // JSON from the server; made harmless when it goes to a terminal.
  void json_line(std::string_view json);

 private:
  std::FILE* file_ = nullptr;
  std::string* sink_ = nullptr;
  bool is_terminal_ = false;
  bool colored_ = false;
  bool movable_ = false;  // the cursor goes back to the start of a line
  bool has_status_ = false;
  bool closed_ = false;
};

}  // namespace shepherd
