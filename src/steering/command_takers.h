// The open feeds that take commands: a runner without a lease (it posts to a task that was made for it) is known
// by the feed on which it waits for commands. A feed over all logs is one of the task "".
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/assert.h"
#include "base/mutex.h"

namespace shepherd {

// Threads: any.
class CommandTakers {
 public:
  void opened(const std::string& task) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++feeds_[task];
  }
  void closed(const std::string& task) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    auto found = feeds_.find(task);
    SHEPHERD_ASSERT(found != feeds_.end(), "a feed is closed once, after it was opened");
    if (--found->second == 0) feeds_.erase(found);
  }
  bool any(const std::string& task) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return feeds_.contains(task) || feeds_.contains("");
  }

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::size_t> feeds_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
