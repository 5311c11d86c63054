// Tells code from prose in text that comes in pieces: what stands between two fence lines (three backticks at the
// start of a line) is code. Fence lines themselves belong to neither.
// Threads: value.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace shepherd {

class CodeFences {
 public:
  using Emit = std::function<void(bool code, std::string_view text)>;
  // `emit` is called with the pieces that can be told apart so far. A line that may become a fence is held.
  void add(std::string_view piece, const Emit& emit);
  void finish(const Emit& emit);  // what is held; another text may begin

 private:
  bool code_ = false;
  bool at_start_ = true;  // of a line
  bool fence_ = false;    // inside a fence line
  std::string held_;      // backticks at the start of a line
};

}  // namespace shepherd
