// The newest bytes of a process's output. The process gets the writing end of a pipe; a thread reads it and keeps only
// the end, so that an agent may print any amount.
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
  ~OutputTail();  // works even if a process still holds the writing end

  int writing_end() const;
  void close_writing_end();  // after the process has inherited it
  std::string text() const;  // the newest kStderrTailBytes printed so far

 private:
  struct Reader;
  explicit OutputTail(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

}  // namespace shepherd::harness
