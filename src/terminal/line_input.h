// Reads lines from a file descriptor in batches: all available lines up to a bound, without waiting for more if the
// writer pauses. So `agent | shepherd post TASK` shows each line soon, and a large file is still posted in large
// batches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

// Does not own the descriptor. Threads: caller.
class LineInput {
 public:
  explicit LineInput(int descriptor) : descriptor_(descriptor) {}

  // The next lines without line breaks and without empty lines; none at the end of the input. A last line without a
  // line break counts. A line over kMaxInputLineBytes is too_large/line_too_long, which names its number.
  Result<std::vector<std::string>> next(std::size_t most_lines, std::size_t most_bytes);

  std::size_t lines_read() const { return lines_read_; }

 private:
  bool take_line(std::string& line);

  int descriptor_;
  std::string pending_;
  std::size_t taken_ = 0;  // bytes of pending_ already handed out
  std::size_t lines_read_ = 0;
  bool ended_ = false;
};

}  // namespace shepherd
