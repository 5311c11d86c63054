// Converts tasks and figures to the protocol's messages.
// Threads: value.
#pragma once

#include <string_view>

#include "base/metrics.h"
#include "model/task.h"
#include "shepherd/observability/v1/observability.pb.h"

namespace shepherd {

void fill_agent(observability::v1::Agent& into, const TaskRow& task);
void fill_usage(observability::v1::Usage& into, const Usage& usage);
void fill_metrics(observability::v1::MetricsSnapshot& into, const MetricRegistry& registry, std::string_view prefix);

}  // namespace shepherd
