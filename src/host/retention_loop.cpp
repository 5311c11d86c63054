#include "host/retention_loop.h"

#include "base/log.h"
#include "host/limits.h"

namespace shepherd {

struct RetentionLoop::Shared {
  Journal& journal;
  RetentionPolicy policy;
  const Clock& clock;
  Executor& workers;
  Indexer* indexer;
  std::atomic<bool> running{false};
  std::atomic<bool> stopping{false};
};

RetentionLoop::RetentionLoop(Journal& journal, RetentionPolicy policy, const Clock& clock, Executor& workers,
                             Indexer* indexer)
    : shared_(std::make_shared<Shared>(journal, policy, clock, workers, indexer)),
      next_ms_(clock.steady_ms() + kRetentionInterval.count()) {}

void RetentionLoop::tick() {
  if (shared_->clock.steady_ms() < next_ms_) return;
  next_ms_ = shared_->clock.steady_ms() + kRetentionInterval.count();
  if (shared_->running.exchange(true)) return;  // the last round is still running
  step(shared_);
}

void RetentionLoop::step(const std::shared_ptr<Shared>& shared) {
  if (shared->stopping) return;
  shared->workers.post([shared] {
    retention_step(
        shared->journal, shared->policy, shared->clock,
        [shared](Result<bool> more) {
          if (!more) log_warn("retention: {}; it tries again in a minute", more.error().message);
          if (more && *more) {
            step(shared);
          } else {
            shared->running = false;
          }
        },
        shared->indexer);
  });
}

void RetentionLoop::stop() {
  shared_->stopping = true;
}

}  // namespace shepherd
