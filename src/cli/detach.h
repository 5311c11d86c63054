// Goes on in the background: a child in its own session does the work, and this process ends once the child has told
// that it began, or why it could not.
// Threads: caller; no thread may have been started yet.
#pragma once

#include <functional>
#include <string>

#include "cli/context.h"

namespace shepherd {

// The child's word to its parent.
class Detached {
 public:
  explicit Detached(int pipe) : pipe_(pipe) {}
  // The first call ends the parent's waiting.
  void started(const std::string& task, const std::string& link) const;
  void failed(const Error& error) const;

 private:
  void tell(const std::string& text) const;
  mutable int pipe_;
};

// In the child, never returns. In the parent: prints the task's id and where to look.
Result<ExitCode> detach(Context& context, const std::function<Result<ExitCode>(const Detached&)>& work);

}  // namespace shepherd
