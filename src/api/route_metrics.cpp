#include "api/route_metrics.h"

#include <algorithm>

namespace shepherd {

RouteMetrics::RouteMetrics(MetricRegistry& registry, std::string_view listener)
    : registry_(registry),
      seconds_(registry.histogram("shepherd_http_request_duration_seconds", "Time from a whole request to its answer",
                                  "listener=\"" + std::string(listener) + "\"")),
      instruments_(routes().size() + 1) {
  auto labels = [&](std::string_view route, std::string_view method) {
    return "listener=\"" + std::string(listener) + "\",route=\"" + std::string(route) + "\",method=\"" +
           std::string(method) + "\"";
  };
  for (std::size_t i = 0; i < routes().size(); ++i) {
    const Route& route = routes()[i];
    instruments_[i].labels = labels(route.pattern, route.method);
  }
  instruments_.back().labels = labels("unknown", "any");
}

RouteMetrics::Instruments& RouteMetrics::of(const Route* route) {
  return route == nullptr ? instruments_.back() : instruments_[static_cast<std::size_t>(route - routes().data())];
}

Counter& RouteMetrics::counter(Instruments& instruments, int status) {
  auto code = std::find(kCodes.begin(), kCodes.end() - 1, status);
  std::atomic<Counter*>& slot = instruments.by_code[static_cast<std::size_t>(code - kCodes.begin())];
  Counter* known = slot.load(std::memory_order_acquire);
  if (known == nullptr) {
    std::string shown = *code == 0 ? "other" : std::to_string(*code);
    known = &registry_.counter("shepherd_http_requests_total", "Requests answered, by route and status",
                               instruments.labels + ",code=\"" + shown + "\"");
    slot.store(known, std::memory_order_release);
  }
  return *known;
}

void RouteMetrics::answered(const Route* route, int status, double seconds) {
  counter(of(route), status).add();
  if (route != nullptr) seconds_.observe(seconds);
}

void RouteMetrics::opened(const Route& route, int status) {
  counter(of(&route), status).add();
}

}  // namespace shepherd
