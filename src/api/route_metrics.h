// Counts requests by route and status and measures their latency, for one listener. A route's instruments are looked up
// once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.h"
#include "base/metrics.h"

namespace shepherd {

// Threads: any.
class RouteMetrics {
 public:
  RouteMetrics(MetricRegistry& registry, std::string_view listener);

  // route is nullptr if no route was found.
  void answered(const Route* route, int status, double seconds);
  void opened(const Route& route, int status);  // a stream, which has no latency

 private:
  static constexpr std::array kCodes{101, 200, 201, 202, 204, 303, 400, 401, 403, 404, 405, 406, 408,
                                     409, 410, 413, 414, 415, 429, 431, 500, 501, 503, 507, 0};  // 0: any other
  struct Instruments {
    std::string labels;
    std::array<std::atomic<Counter*>, kCodes.size()> by_code{};
  };
  Counter& counter(Instruments& instruments, int status);
  Instruments& of(const Route* route);

  MetricRegistry& registry_;
  Histogram& seconds_;                    // over all routes, because one per route would be most of a scrape
  std::vector<Instruments> instruments_;  // by route, and one for unknown paths
};

}  // namespace shepherd
