// The newest bytes of what a process prints: the writing end for the process, a thread that reads and forgets all but
// the end of it, so that an agent may print as much as it likes.
// Threads: any.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace shepherd::harness {

class OutputTail {
 public:
  static Result<OutputTail> open();
  OutputTail(OutputTail&&) noexcept;
  OutputTail& operator=(OutputTail&&) = delete;
  ~OutputTail();  // also while a process holds the writing end

  int writing_end() const;
  void close_writing_end();  // once the process has it
  std::string text() const;  // what was printed so far, its newest kStderrTailBytes

 private:
  struct Impl;
  explicit OutputTail(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd::harness
