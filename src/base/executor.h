// Where work runs: an io thread, a pool of workers for blocking reads, or a queue that a test steps through.
#pragma once

#include <functional>

namespace shepherd {

using Work = std::move_only_function<void()>;

// Runs posted work later, never inside post(). Work posted from one thread to a sequential executor keeps its order.
// Threads: any may post.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void post(Work work) = 0;
};

}  // namespace shepherd
