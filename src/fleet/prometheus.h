// Prometheus text format (version 0.0.4) of all instruments.
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/metrics.h"

namespace shepherd {

// Calls the computed instruments' read() on the caller's thread.
std::string prometheus_text(const MetricRegistry& registry);

// `name="value"`, escaped: one label as MetricRegistry takes it.
std::string prometheus_label(std::string_view name, std::string_view value);

}  // namespace shepherd
