// When to look at which task again: one time for each, earliest first.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "steering/overdue.h"

namespace shepherd {

// Threads: any.
class DueList {
 public:
  // Replaces the task's time; kNeverMs removes it.
  void set(const std::string& task, std::int64_t due_ms) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (auto known = times_.find(task); known != times_.end()) {
      order_.erase({known->second, task});
      times_.erase(known);
    }
    if (due_ms == kNeverMs) return;
    times_[task] = due_ms;
    order_.insert({due_ms, task});
  }

  // The tasks whose time has come; they are no longer in the list.
  std::vector<std::string> take(std::int64_t now_ms) EXCLUDES(mutex_) {
    std::vector<std::string> due;
    MutexLock lock(mutex_);
    SHEPHERD_ASSERT(order_.size() == times_.size(), "each task has one time");
    while (!order_.empty() && order_.begin()->first <= now_ms) {
      due.push_back(order_.begin()->second);
      times_.erase(due.back());
      order_.erase(order_.begin());
    }
    return due;
  }

 private:
  Mutex mutex_;
  std::unordered_map<std::string, std::int64_t> times_ GUARDED_BY(mutex_);
  std::set<std::pair<std::int64_t, std::string>> order_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
