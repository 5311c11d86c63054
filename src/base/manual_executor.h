// An executor that a test or a simulation steps by hand, in any order.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "base/executor.h"

namespace shepherd {

// Threads: caller (one thread only).
class ManualExecutor final : public Executor {
 public:
  void post(Work work) override { queue_.push_back(std::move(work)); }

  std::size_t pending() const { return queue_.size(); }
  bool run_one() { return run_nth(0); }
  // Runs the n-th oldest piece of work, for schedules that do not preserve order.
  bool run_nth(std::size_t n) {
    if (n >= queue_.size()) return false;
    Work work = std::move(queue_[n]);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(n));
    work();
    return true;
  }
  void run_all() {
    while (run_one()) {
    }
  }

 private:
  std::deque<Work> queue_;
};

}  // namespace shepherd
