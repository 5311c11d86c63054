#include "api/producer_trail.h"

#include <utility>

#include "api/limits.h"

namespace shepherd {

ProducerTrail::ProducerTrail(Audit& audit, const Clock& clock, std::shared_ptr<const Principal> principal,
                             std::string task, AuditRecord record)
    : audit_(audit),
      clock_(clock),
      principal_(std::move(principal)),
      task_(std::move(task)),
      record_(std::move(record)),
      begun_ms_(clock.steady_ms()) {}

ProducerTrail::~ProducerTrail() {
  if (!posted_) return;
  if (first_ != 0) {
    record_.first = static_cast<std::int64_t>(first_.load());
    record_.last = static_cast<std::int64_t>(last_.load());
  }
  record_.duration_ms = clock_.steady_ms() - begun_ms_;
  audit_.record(std::move(record_));
}

bool ProducerTrail::goes_on(const std::shared_ptr<const Principal>& principal, std::string_view task) const {
  return principal_ == principal && task_ == task && clock_.steady_ms() - begun_ms_ < kProducerTrail.count();
}

void ProducerTrail::posted(std::uint64_t first, std::uint64_t last) {
  posted_.store(true, std::memory_order_relaxed);
  if (first == 0 || first > last) return;  // only repeats
  // A connection posts one request at a time, so these stores never race with each other.
  if (first_.load(std::memory_order_relaxed) == 0) first_.store(first, std::memory_order_relaxed);
  last_.store(last, std::memory_order_relaxed);
}

}  // namespace shepherd
