// What the process costs: memory, CPU, descriptors, under Prometheus' conventional process_* names. Read from the
// kernel when scraped.
// Threads: any.
#pragma once

#include "base/metrics.h"

namespace shepherd {

// Once per registry.
void register_process_metrics(MetricRegistry& registry);

}  // namespace shepherd
