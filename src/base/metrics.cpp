#include "base/metrics.h"

#include <algorithm>

namespace shepherd {

void Histogram::observe(double seconds) {
  auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  buckets_[static_cast<std::size_t>(bound - kBounds.begin())].fetch_add(1, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(static_cast<std::uint64_t>(std::max(0.0, seconds) * 1e9), std::memory_order_relaxed);
}

MetricSample* MetricRegistry::find(std::string_view name, std::string_view labels) {
  for (auto& sample : samples_) {
    if (sample.name == name && sample.labels == labels) return &sample;
  }
  return nullptr;
}

Counter& MetricRegistry::counter(std::string_view name, std::string_view help, std::string_view labels) {
  MutexLock lock(mutex_);
  if (auto* known = find(name, labels)) return const_cast<Counter&>(*known->counter);
  auto& made = counters_.emplace_back();
  samples_.push_back({std::string(name),
                      std::string(labels),
                      std::string(help),
                      MetricSample::Kind::counter,
                      &made,
                      nullptr,
                      nullptr,
                      {}});
  return made;
}

Gauge& MetricRegistry::gauge(std::string_view name, std::string_view help, std::string_view labels) {
  MutexLock lock(mutex_);
  if (auto* known = find(name, labels)) return const_cast<Gauge&>(*known->gauge);
  auto& made = gauges_.emplace_back();
  samples_.push_back({std::string(name),
                      std::string(labels),
                      std::string(help),
                      MetricSample::Kind::gauge,
                      nullptr,
                      &made,
                      nullptr,
                      {}});
  return made;
}

Histogram& MetricRegistry::histogram(std::string_view name, std::string_view help, std::string_view labels) {
  MutexLock lock(mutex_);
  if (auto* known = find(name, labels)) return const_cast<Histogram&>(*known->histogram);
  auto& made = histograms_.emplace_back();
  samples_.push_back({std::string(name),
                      std::string(labels),
                      std::string(help),
                      MetricSample::Kind::histogram,
                      nullptr,
                      nullptr,
                      &made,
                      {}});
  return made;
}

void MetricRegistry::computed(std::string_view name, std::string_view help, std::function<double()> read,
                              std::string_view labels) {
  MutexLock lock(mutex_);
  samples_.push_back({std::string(name), std::string(labels), std::string(help), MetricSample::Kind::gauge, nullptr,
                      nullptr, nullptr, std::move(read)});
}

void MetricRegistry::computed_counter(std::string_view name, std::string_view help, std::function<double()> read,
                                      std::string_view labels) {
  MutexLock lock(mutex_);
  samples_.push_back({std::string(name), std::string(labels), std::string(help), MetricSample::Kind::counter, nullptr,
                      nullptr, nullptr, std::move(read)});
}

std::vector<MetricSample> MetricRegistry::samples() const {
  std::vector<MetricSample> out;
  {
    MutexLock lock(mutex_);
    out.assign(samples_.begin(), samples_.end());
  }
  std::vector<std::string> families;
  for (const auto& sample : out) {
    if (std::find(families.begin(), families.end(), sample.name) == families.end()) families.push_back(sample.name);
  }
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
    return std::find(families.begin(), families.end(), a.name) < std::find(families.begin(), families.end(), b.name);
  });
  return out;
}

}  // namespace shepherd
