#include "rpc/views.h"

#include <limits>
#include <string>

#include "model/wire_json.h"
#include "rpc/proto_time.h"

namespace shepherd {
namespace {

namespace v1 = observability::v1;

// `route="/x",code="200"`, escaped as in Prometheus.
void fill_labels(google::protobuf::Map<std::string, std::string>& into, std::string_view labels) {
  while (!labels.empty()) {
    std::size_t equals = labels.find("=\"");
    if (equals == std::string_view::npos) return;
    std::string& value = into[std::string(labels.substr(0, equals))];
    std::size_t at = equals + 2;
    for (; at < labels.size() && labels[at] != '"'; ++at) {
      if (labels[at] != '\\' || at + 1 == labels.size()) {
        value += labels[at];
      } else {
        ++at;
        value += labels[at] == 'n' ? '\n' : labels[at];
      }
    }
    labels.remove_prefix(std::min(at + 1, labels.size()));
    if (labels.starts_with(',')) labels.remove_prefix(1);
  }
}

void fill_histogram(v1::HistogramValue& into, const Histogram& histogram) {
  std::int64_t count = 0;  // sum of the buckets, because only that is consistent during concurrent observations
  for (std::size_t i = 0; i <= Histogram::kBounds.size(); ++i) {
    count += static_cast<std::int64_t>(histogram.bucket(i));
    auto& bucket = *into.add_buckets();
    bucket.set_at_most(i < Histogram::kBounds.size() ? Histogram::kBounds[i] : std::numeric_limits<double>::infinity());
    bucket.set_count(count);
  }
  into.set_count(count);
  into.set_sum(histogram.sum_seconds());
}

double value_of(const MetricSample& sample) {
  if (sample.counter != nullptr) return static_cast<double>(sample.counter->value());
  if (sample.gauge != nullptr) return static_cast<double>(sample.gauge->value());
  return sample.read ? sample.read() : 0;
}

}  // namespace

void fill_usage(v1::Usage& into, const Usage& usage) {
  into.set_input_tokens(static_cast<std::int64_t>(usage.input_tokens));
  into.set_output_tokens(static_cast<std::int64_t>(usage.output_tokens));
  into.set_cache_read_tokens(static_cast<std::int64_t>(usage.cache_read_tokens));
  into.set_cache_write_tokens(static_cast<std::int64_t>(usage.cache_write_tokens));
  into.set_cost_usd(usage.cost_usd);
}

void fill_agent(v1::Agent& into, const TaskRow& task) {
  const auto& [spec, state, created_ms] = task;
  into.set_agent_id(spec.id);
  into.set_title(spec.title);
  into.set_agent(spec.agent);
  into.set_model(spec.model.empty() ? state.model : spec.model);
  into.set_session_id(state.session_id);
  into.set_workflow_id(spec.workflow_id);
  into.set_state(std::string(name(state.state)));
  into.set_activity(state.activity);
  set_time(*into.mutable_created_at(), created_ms);
  if (state.started_ms != 0) set_time(*into.mutable_started_at(), state.started_ms);
  if (state.last_event_ms != 0) set_time(*into.mutable_last_event_at(), state.last_event_ms);
  if (state.completed_ms != 0) set_time(*into.mutable_completed_at(), state.completed_ms);
  into.set_last_sequence(static_cast<std::int64_t>(state.last_sequence));
  fill_usage(*into.mutable_usage(), state.usage);
  into.set_tool_calls(static_cast<std::int64_t>(state.tool_calls));
  into.set_errors(static_cast<std::int64_t>(state.errors));
  into.mutable_labels()->insert(spec.labels.begin(), spec.labels.end());
}

void fill_metrics(v1::MetricsSnapshot& into, const MetricRegistry& registry, std::string_view prefix) {
  for (const MetricSample& sample : registry.samples()) {
    if (!sample.name.starts_with(prefix)) continue;
    v1::Metric& metric = *into.add_metrics();
    metric.set_name(sample.name);
    fill_labels(*metric.mutable_labels(), sample.labels);
    if (sample.histogram != nullptr) {
      fill_histogram(*metric.mutable_histogram(), *sample.histogram);
    } else if (sample.kind == MetricSample::Kind::counter) {
      metric.set_counter(value_of(sample));
    } else {
      metric.set_gauge(value_of(sample));
    }
  }
}

}  // namespace shepherd
