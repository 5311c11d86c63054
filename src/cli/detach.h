// Continues in the background: a child in its own session does the work, and this process ends once the child reports
// that it started or why it failed.
// Threads: caller; no thread may have been started yet.
#pragma once

#include <functional>
#include <string>

#include "cli/context.h"

namespace shepherd {

// The child's end of the pipe to its parent.
class Detached {
 public:
  explicit Detached(int pipe) : pipe_(pipe) {}
  // The first of these calls ends the parent's wait.
  void started(const std::string& task, const std::string& link) const;
  void failed(const Error& error) const;

 private:
  void tell(const std::string& text) const;
  mutable int pipe_;
};

// Never returns in the child. In the parent, prints the task's id and its link.
Result<ExitCode> detach(Context& context, const std::function<Result<ExitCode>(const Detached&)>& work);

}  // namespace shepherd
