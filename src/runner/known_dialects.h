// Which dialect a streaming agent took its task in, by address, so that the next task is offered in it first.
//
// A hint for the life of the process: an agent that is replaced by one of the other dialect costs one more call.
// Threads: any.
#pragma once

#include <map>
#include <string>

#include "base/mutex.h"
#include "driver/driver.h"

namespace shepherd {

class KnownDialects {
 public:
  // Adds what is known of the agent to the options of its start, unless they name a dialect.
  void add_to(LaunchOptions& options, const std::string& address) const EXCLUDES(mutex_);
  // The agent answered to a start with these options.
  void answered(const LaunchOptions& options, const std::string& address) EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::string> first_ GUARDED_BY(mutex_);  // by address; the usual one is not kept
};

}  // namespace shepherd
