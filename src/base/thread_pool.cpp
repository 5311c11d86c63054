#include "base/thread_pool.h"

#include <pthread.h>

#include <utility>

namespace shepherd {

ThreadPool::ThreadPool(std::string name, std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
    pthread_setname_np(threads_.back().native_handle(), name.substr(0, 15).c_str());
  }
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ThreadPool::post(Work work) {
  {
    MutexLock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  ready_.notify_one();
}

void ThreadPool::run() {
  for (;;) {
    Work work;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) ready_.wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace shepherd
