// Runs retention in the background: once a minute, step after step on a worker thread until nothing is due.
#pragma once

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "base/executor.h"
#include "follow/indexer.h"
#include "follow/retention.h"
#include "journal/journal.h"

namespace shepherd {

// Everything it is given must outlive its last step; stop() and then ending the workers makes sure of that.
// Threads: any.
class RetentionLoop {
 public:
  RetentionLoop(Journal& journal, RetentionPolicy policy, const Clock& clock, Executor& workers, Indexer* indexer);

  void tick();  // starts a round when one is due
  void stop();  // no new steps; one that is under way ends by itself

 private:
  struct Impl;
  static void step(const std::shared_ptr<Impl>& impl);

  std::shared_ptr<Impl> impl_;  // shared: a step on a worker or in the writer keeps it
  std::int64_t next_ms_;
};

}  // namespace shepherd
