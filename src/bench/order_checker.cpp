#include "bench/order_checker.h"

namespace shepherd::bench {

Defects& Defects::operator+=(const Defects& other) {
  missing += other.missing;
  repeated += other.repeated;
  disorder += other.disorder;
  return *this;
}

void OrderChecker::receive_unexpected(std::uint32_t stream, std::uint32_t sequence) {
  std::uint32_t& next = next_[stream];
  if (sequence > next) {
    if (holes_ == nullptr) holes_ = std::make_unique<Holes>();
    holes_->emplace(std::pair(stream, next), sequence);
    next = sequence + 1;
    return;
  }
  ++(fill_hole(stream, sequence) ? disorder_ : repeated_);
}

bool OrderChecker::fill_hole(std::uint32_t stream, std::uint32_t sequence) {
  if (holes_ == nullptr) return false;
  auto after = holes_->upper_bound({stream, sequence});
  if (after == holes_->begin()) return false;
  auto hole = std::prev(after);
  auto [key, end] = *hole;
  if (key.first != stream || sequence >= end) return false;
  holes_->erase(hole);
  if (key.second < sequence) holes_->emplace(std::pair(stream, key.second), sequence);
  if (sequence + 1 < end) holes_->emplace(std::pair(stream, sequence + 1), end);
  return true;
}

Defects OrderChecker::finish(std::span<const std::uint32_t> sent) const {
  Defects defects{.missing = 0, .repeated = repeated_, .disorder = disorder_};
  for (std::size_t stream = 0; stream < next_.size(); ++stream) {
    std::uint32_t expected = stream < sent.size() ? sent[stream] : 0;
    if (next_[stream] < expected) defects.missing += expected - next_[stream];
    if (next_[stream] > expected) defects.repeated += next_[stream] - expected;
  }
  if (holes_ != nullptr) {
    for (const auto& [key, end] : *holes_) defects.missing += end - key.second;
  }
  return defects;
}

}  // namespace shepherd::bench
