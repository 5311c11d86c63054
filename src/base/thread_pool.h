// A few threads for blocking work (store reads, DNS, files), so that io threads never block.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"

namespace shepherd {

// Owns its threads; the destructor runs all posted work and joins them. The threads run in parallel, so two posts have
// no order.
// Threads: any.
class ThreadPool final : public Executor {
 public:
  ThreadPool(std::string name, std::size_t threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void post(Work work) override EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar ready_;
  std::deque<Work> queue_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace shepherd
