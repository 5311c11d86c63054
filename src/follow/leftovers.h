// Removes what deleted tasks left in the store (WriteTxn::erase_leftovers), so that deleting a long log does not hold
// up other writes.
#pragma once

#include <memory>

#include "base/executor.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

// Follows deletions, of this process and of others. Removes kLeftoverRows in one write of the journal, then the next as
// soon as that is committed, until none are left. After a restart it goes on with what is left; after a failure it
// tries again at the next tick. Threads: any.
class Leftovers {
 public:
  // The journal must outlive it, and the workers must run until stop() has returned.
  static Result<std::unique_ptr<Leftovers>> open(Journal& journal, Executor& workers);
  ~Leftovers();
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

  void tick();  // call about every kServerTick
  void stop();  // no further piece; one that is in the journal's queue ends by itself

 private:
  struct Impl;
  explicit Leftovers(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared, because a write in the queue keeps it
};

}  // namespace shepherd
