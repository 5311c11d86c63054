// Counters, gauges and histograms; an update costs one atomic add. views/prometheus renders them as Prometheus text.
// Instruments live as long as the registry; modules keep references.
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace shepherd {

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void add(std::int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  void set(std::int64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Seconds, in buckets from 50 microseconds to 10 seconds.
class Histogram {
 public:
  static constexpr std::array<double, 16> kBounds{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                  0.025,   0.05,   0.1,     0.25,   0.5,   1,      2.5,   10};
  void observe(double seconds);
  std::uint64_t bucket(std::size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }  // not cumulative
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  double sum_seconds() const { return static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1e9; }

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_ns_{0};
};

struct MetricSample {
  std::string name;    // metric family, e.g. shepherd_events_appended_total
  std::string labels;  // e.g. `route="/x",code="200"`, already escaped; may be empty
  std::string help;
  enum class Kind { counter, gauge, histogram } kind;
  const Counter* counter = nullptr;
  const Gauge* gauge = nullptr;
  const Histogram* histogram = nullptr;
  std::function<double()> read;  // computes the value of a gauge or counter at scrape time
};

class MetricRegistry {
 public:
  // A repeated call with the same name and labels returns the same instrument.
  Counter& counter(std::string_view name, std::string_view help, std::string_view labels = "");
  Gauge& gauge(std::string_view name, std::string_view help, std::string_view labels = "");
  Histogram& histogram(std::string_view name, std::string_view help, std::string_view labels = "");
  // read() is called while scraping, without locks held. Everything it captures must outlive the registry's scrapes.
  void computed(std::string_view name, std::string_view help, std::function<double()> read,
                std::string_view labels = "");
  // The same for a value that only grows; the name ends in _total.
  void computed_counter(std::string_view name, std::string_view help, std::function<double()> read,
                        std::string_view labels = "");

  // All instruments, grouped by family, in order of first registration.
  std::vector<MetricSample> samples() const;

 private:
  MetricSample* find(std::string_view name, std::string_view labels) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::deque<MetricSample> samples_ GUARDED_BY(mutex_);
  std::deque<Counter> counters_ GUARDED_BY(mutex_);
  std::deque<Gauge> gauges_ GUARDED_BY(mutex_);
  std::deque<Histogram> histograms_ GUARDED_BY(mutex_);
};

}  // namespace shepherd
