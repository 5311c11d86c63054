// A mutex that clang's -Wthread-safety understands. Rule: no lock is held while calling out of the class.
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SHEPHERD_TSA(x) __attribute__((x))
#else
#define SHEPHERD_TSA(x)
#endif
// Abseil, which grpc++ includes, defines these two macros with the same meaning but different text.
#undef GUARDED_BY
#undef NO_THREAD_SAFETY_ANALYSIS
#define CAPABILITY(x) SHEPHERD_TSA(capability(x))
#define SCOPED_CAPABILITY SHEPHERD_TSA(scoped_lockable)
#define GUARDED_BY(x) SHEPHERD_TSA(guarded_by(x))
#define REQUIRES(...) SHEPHERD_TSA(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) SHEPHERD_TSA(acquire_capability(__VA_ARGS__))
#define RELEASE(...) SHEPHERD_TSA(release_capability(__VA_ARGS__))
#define EXCLUDES(...) SHEPHERD_TSA(locks_excluded(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS SHEPHERD_TSA(no_thread_safety_analysis)

namespace shepherd {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Always wait in a loop that checks the condition.
class CondVar {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False if the timeout passed without a notification.
  bool wait_for(Mutex& mutex, std::chrono::milliseconds timeout) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    bool notified = condition_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace shepherd
