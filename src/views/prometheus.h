// Writes all instruments in the Prometheus text format (version 0.0.4).
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/metrics.h"

namespace shepherd {

// Calls the computed instruments' read() on the caller's thread.
std::string prometheus_text(const MetricRegistry& registry);

// Writes metric families that are not instruments of a registry. Threads: caller.
class PrometheusText {
 public:
  explicit PrometheusText(std::string& out) : out_(out) {}
  void family(std::string_view name, std::string_view help, std::string_view type);
  void line(std::string_view name, std::string_view labels, std::uint64_t number);
  void line(std::string_view name, std::string_view labels, double number);

 private:
  std::string& out_;
};
std::string prometheus_number(double number);

// `name="value"`, escaped: one label in the form that MetricRegistry expects.
std::string prometheus_label(std::string_view name, std::string_view value);

}  // namespace shepherd
