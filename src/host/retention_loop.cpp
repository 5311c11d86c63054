#include "host/retention_loop.h"

#include "base/log.h"
#include "host/limits.h"

namespace shepherd {

struct RetentionLoop::Impl {
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
    : impl_(std::make_shared<Impl>(journal, policy, clock, workers, indexer)),
      next_ms_(clock.steady_ms() + kRetentionInterval.count()) {}

void RetentionLoop::tick() {
  if (impl_->clock.steady_ms() < next_ms_) return;
  next_ms_ = impl_->clock.steady_ms() + kRetentionInterval.count();
  if (impl_->running.exchange(true)) return;  // the last round is still busy
  step(impl_);
}

void RetentionLoop::step(const std::shared_ptr<Impl>& impl) {
  if (impl->stopping) return;
  impl->workers.post([impl] {
    retention_step(
        impl->journal, impl->policy, impl->clock,
        [impl](Result<bool> more) {
          if (!more) log_warn("retention: {}; it tries again in a minute", more.error().message);
          if (more && *more) {
            step(impl);
          } else {
            impl->running = false;
          }
        },
        impl->indexer);
  });
}

void RetentionLoop::stop() {
  impl_->stopping = true;
}

}  // namespace shepherd
