// The process's resource use (memory, CPU, descriptors) under Prometheus' conventional process_* names. Read from the
// kernel at scrape time.
// Threads: any.
#pragma once

#include "base/metrics.h"

namespace shepherd {

// Call once per registry.
void register_process_metrics(MetricRegistry& registry);

}  // namespace shepherd
